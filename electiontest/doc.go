// Package electiontest helps to test leading work without a server.
//
// [NewTerm] makes a term that is valid until the test ends it, with the context that the work gets.
// A test can run a Lead function, take leadership away in the middle, and check that the work stops
// with the right cause.
//
// For tests with a server, embed a NATS server in the test's process (nats-server's package server)
// and use real sessions. In a testing/synctest bubble, sessions run on virtual time without any
// configuration.
package electiontest
