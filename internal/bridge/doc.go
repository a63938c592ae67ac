// Package bridge lets the packages for tests reach what others must not: constructors and fields that are not exported.
// The package that owns them fills the variables in at its initialisation; nothing that is not a test reads them.
//
// Files: election.go, task.go.
package bridge
