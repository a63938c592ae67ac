// Package dryrun prints the requests that a creation would send, and sends none.
//
// Promise: they are the requests that the command would really send, because a server in this
// process records them.
package dryrun
