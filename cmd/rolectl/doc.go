// Command rolectl shows who leads which role, steers roles and tasks, runs commands under a role,
// and finds out what is wrong.
//
//	rolectl roles | watch | inspect ROLE | members          look: read-only permissions suffice
//	rolectl step-down ROLE | transfer ROLE INSTANCE         hand a role over
//	rolectl exec ROLE -- COMMAND                            run a command only while leading
//	rolectl doctor | bench | dev | bucket create | check    the servers, the bucket, a server to try things out
//	rolectl tasks create | ls | get | submit | cancel | requeue | drain | pause | resume | overview | cron
//
// Flags, the environment or a context of the nats tool say where NATS is and which user to connect
// as. Data goes to stdout (-o table, wide, json or name; the JSON follows
// docs/reference/rolectl-v1.json). Everything else goes to stderr, as JSON with -o json.
//
// Exit codes: 0 done, 1 failed, 2 usage, 3 nobody leads, 4 no connection or no permission, 5
// leadership lost, 130 interrupted, 141 nobody reads the output. exec passes on the exit code of
// its command, and doctor has exit codes of its own.
//
// # Promises
//
//   - No command hangs without a server, or with a server whose JetStream does not answer.
//   - Input that makes no sense is refused in one line that says what to do, before anything is
//     done.
//   - A command that hands a role over is guarded by the epoch that the user was shown, and asks
//     first. Without a terminal it needs --yes.
//   - No process that exec has started still runs when the next leader's command begins: see
//     internal/supervise.
//   - A record in a bucket cannot steer the terminal of a person who reads it. Tokens are shown
//     only on request.
//
// # Layers
//
// A package imports only packages of the lines below its own:
//
//	main, root                                      one command line: its commands, and its exit code
//	bench bucket dev doctor exec roles tasks        one group of commands each; no group imports another
//	inventory                                       what a bucket holds, and what it means
//	cli                                             what all commands share: the app, flags, exit codes, errors
//	connect  show  supervise                        the way to the server; output; a command under a lease
package main
