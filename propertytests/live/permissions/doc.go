// Package permissions holds no code: its tests try the permissions of docs/reference/permissions.md
// on a real server with real accounts. Every class of user does its part, and the server has
// nothing to complain about. Then every class tries every subject of the system, and is allowed
// what is listed and refused all else.
//
// The file is configuration of nats-server as it is meant to be copied, so what is published is
// what was tried.
//
// # What the permissions do
//
//   - A candidate writes the records of its own roles and of no other; it steers nobody.
//   - An observer writes nothing. A worker writes its own two records, and reports in its own name
//     only.
//   - A submitter hands out nothing; nobody but the owner changes or removes a bucket or a stream,
//     or purges the stream of tasks.
//   - Nobody reads another's answers: inboxes have prefixes of their own.
//
// # What they do not
//
// A candidate can end any session of its bucket, since that is how a dead one is replaced, and
// overwrite the records of any member. A user that may write one record of a bucket, also a worker,
// can purge the bucket by a header of that record: expiry markers need a stream that allows
// roll-ups. The same is true of large outputs. And NATS checks what a client publishes and
// subscribes to, but neither where an answer is sent nor where a consumer delivers. So a user that
// may ask the JetStream API can have the answer stored where a record is, as garbage: the role is
// without a leader for a while. Our own streams answer no direct gets, since these bring the bare
// text: who may write to any other bucket of the account that answers them, and make them, can
// forge any record. And who may write to a stream and make consumers on it can send its own text to
// any subscription of the account.
//
// The worst that comes of it is a session that is declared ended while its leader can hear nothing:
// then two lead until the first one's clock ends its term, TTL - margin after its last acknowledged
// heartbeat, and fences refuse the first one. abuse_test.go, purge_test.go and forge_test.go show
// all of it. Permissions within an account keep mistakes apart, accounts keep enemies apart.
package permissions
