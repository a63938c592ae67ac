// Package bridge gives the packages of this module access to constructors, fields and methods that
// are not exported, because users do not need them. Packages for tests use it, and package assign,
// which works with more of a session than its users see. The package that owns them sets the
// variables when it is initialised.
package bridge
