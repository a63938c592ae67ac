// Package bridge lets the packages of this module reach what users do not need: constructors, fields and methods that are not
// exported. Packages for tests use it, and package assign, which works with more of a session than its users see.
// The package that owns them fills the variables in at its initialisation.
//
// Files: election.go, task.go.
package bridge
