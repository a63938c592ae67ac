// Command rolectl shows who leads which role, steers roles and tasks, runs commands under a role, and finds out what is wrong.
//
//	rolectl roles | watch | inspect ROLE | members          look: read-only permissions suffice
//	rolectl step-down ROLE | transfer ROLE INSTANCE         hand a role over
//	rolectl exec ROLE -- COMMAND                            run a command only while leading
//	rolectl doctor | bench | dev | bucket create | check    the servers, the bucket, a server to try things out
//	rolectl tasks create | ls | get | submit | cancel | requeue | drain | pause | resume | overview | cron
//
// Where NATS is and as whom to go there is said by flags, by the environment or by a context of the nats tool. Data goes to
// stdout (-o table, wide, json or name; the JSON is that of docs/reference/rolectl-v1.json), all else to stderr; with -o json that is JSON, too.
// Exit codes: 0 done, 1 failed, 2 usage, 3 nobody leads, 4 no connection or no permission, 5 leadership lost, 141 nobody reads;
// exec passes on that of its command, doctor has its own.
//
// # Promises
//
//   - No command hangs without a server, or with one whose JetStream does not answer.
//   - What makes no sense is refused in one line that says what to do, before anything is done.
//   - What hands a role over is guarded by the epoch that the user was shown, and asks first; off a terminal it wants --yes.
//   - Nothing that exec has started runs on when the next leader's command begins: see internal/supervise.
//   - What stands in a bucket cannot steer the terminal of who reads it, and tokens are not shown unless asked for.
//
// # Files
//
//	main.go, root.go, app.go, exit.go       one command line; the global flags; the connection; exit codes
//	fault.go                                an error as a document
//	reader.go, reader_*.go                  the end of who only looks, when nobody reads
//	args.go, flags.go, version.go           what commands take, and what they refuse; --version
//	ledger.go, sight.go                     what stands in a bucket, and what it means
//	roles.go, inspect.go, members.go, watch.go, winch_*.go   looking
//	confirm.go, handover.go, stepdown.go, transfer.go        handing over
//	exec.go, lead.go                        exec: its flags; its part in the role
//	bucket.go, creation.go                  buckets; the dry run
//	dev.go, devlock*.go, dev_worker.go      the server for trying out; one at a time on one store; what runs tasks there
//	doctor.go, doctor_*.go                  findings and their report; the checks, by what they look at (doctor_changes.go:
//	                                        what happens while it watches)
//	bench.go, bench_*.go                    what is measured, how, and over which connection
//	tasks*.go                               the commands about tasks (tasks_known.go: names that somebody knows; tasks_held.go:
//	                                        why something is held back; tasks_wait.go: what is seen of a task until it has ended)
//	completion*.go                          names for the shell
//
// Below internal: connect (where to go and as whom), show (tables, JSON, plots), supervise (a command under a lease).
package main
