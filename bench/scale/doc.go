//go:build linux

// Command scale measures how costs grow, one axis at a time, on one machine: members, workers,
// roles, open tasks. Every measurement is a row of a CSV file; the curves and their exponents are
// drawn from it by bench/report.
//
//	go run ./bench/scale -quick               does it work? figures worth nothing
//	go run ./bench/scale -out scale.csv       everything
//	go run ./bench/scale -axes roles,tasks
//	go run ./bench/scale -axes tasks -sizes 300000 -cpuprofile /tmp
//
//	members   N candidates for one role          messages and processor time at rest, memory, a crash
//	patient   the same, with leases of a minute    up to a thousand
//	workers   N worker-only members, one leader  the same at rest, and what a bystander receives: a leader of something
//	                                             else
//	roles     N roles of three processes         the same at rest, time to lead them all, a crash
//	tasks     N open tasks                       time to submit, memory, bytes stored, time until the next scheduler is
//	                                             ready, time to run them all
//
// The server is a process of its own, and so is each group of members, so that what each costs is
// seen apart; the N members of an axis share one process, each with a session and a connection of
// its own.
package main
