// Package inventory reads what a bucket and a namespace of tasks hold, and says what it means. It
// only reads, except for CreateTasks, and read-only permissions suffice.
//
// A View has an election.Observer, with roles, candidates and members as the library sees them. Its
// Records are all records with the server's time, for what an observer does not report.
//
// RoleState and MemberState are the JSON documents of a role and of a member. AskServer and
// AskJetStream put questions that a permission may deny: a denial looks like silence, so they watch
// for the complaint of the server.
package inventory
