// Package electiontest helps to test leading work without a server.
//
// [NewTerm] makes a term that is valid until the test ends it, with the context that the work gets: so that a test can
// run a Lead function, take leadership away in the middle, and see that the work stops and what cause it saw.
//
// For tests with a server, embed one (nats-server's package server, in process) and use the real thing: in a
// testing/synctest bubble sessions run on virtual time by themselves.
//
// Files: term.go.
package electiontest
