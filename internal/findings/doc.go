// Package findings judges what is seen of roles, members and tasks: what is wrong, how bad it is,
// and what to do. rolectl and the page show the same facts by the same words because both ask here.
//
// It does no I/O. Each judgement adds to a [List], and a [Finding] that is not OK names a fix.
package findings
