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
// publishes and subscribes to, but neither where an answer is sent nor where a consumer delivers. So who may ask the JetStream
// API can have the answer stored where a record is; who may write to a bucket and make direct gets on it can forge any record of
// the account; who may write to a stream and make consumers on it can send its own text to any subscription of the account. The
// tests in abuse_test.go show all of it, and what it leads to: a role that changes hands, or is without a leader for a while,
// and never with two. Permissions within an account keep mistakes apart, accounts keep enemies apart.
//
// Files: setup_test.go the server · suffice_test.go, tasks_test.go, keeps_test.go every class at work · refuse_test.go,
// subjects_test.go the list · least_test.go that nothing can be left out · abuse_test.go what remains possible.
package security
