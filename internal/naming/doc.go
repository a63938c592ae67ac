// Package naming says which names a role, an instance, a namespace or a task may have.
//
// Files: naming.go (the rule).
package naming
