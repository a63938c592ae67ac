// Package tasks holds the commands below "rolectl tasks": they create a namespace, submit tasks and
// wait for them, list and steer them, and define recurring tasks.
//
// Submitting and steering need no scheduler: the request is stored, and takes effect when a
// scheduler leads. If a scheduler answers, names that it does not know are refused, so that a
// mistyped name is noticed.
package tasks
