// Package naming says which names a role, an instance, a namespace or a task may have.
package naming
