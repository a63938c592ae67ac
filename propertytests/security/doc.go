// Package security holds no code: its tests try the permissions of docs/operations.md on a real server with real accounts.
//
//	testdata/permissions.conf ──► server ──► every class does its part, and the server has nothing to complain about
//	                                    └──► every subject of the system × every class: allowed as listed, refused else
//
// The file is configuration of nats-server as it is meant to be copied, so what is published is what was tried.
//
// # What the permissions do
//
//   - A candidate writes the records of its own roles and of no other; it steers nobody.
//   - An observer writes nothing. A worker writes its own two records, and reports in its own name only.
//   - A submitter hands out nothing; nobody but the owner changes, purges or removes a bucket or a stream.
//   - Nobody reads another's answers: inboxes have prefixes of their own.
//
// # What they do not
//
// A candidate can end any session of its bucket, since that is how a dead one is replaced. And NATS checks what a client
// publishes and subscribes to, but neither where an answer is sent nor where a consumer delivers: so who may ask the
// JetStream API can have the answer stored as a record, and who may make consumers on a stream that it can write to can have
// its own text delivered to any other subject of the account. The tests in abuse_test.go show both, and what they lead to:
// a role without a leader for a while, and for the second a stranger in the lead. Permissions within an account keep mistakes
// apart, accounts keep enemies apart.
//
// Files: setup_test.go the server · suffice_test.go · refuse_test.go, subjects_test.go the list · abuse_test.go.
package security
