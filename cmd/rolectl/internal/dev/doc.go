// Package dev holds the command "rolectl dev": a NATS server for trying things out, with a bucket,
// a namespace of tasks, and a built-in worker that runs two kinds of tasks. Everything is kept in
// memory unless a store directory is given.
//
// The built-in worker leaves for good as soon as another program hands out tasks in the namespace.
package dev
