// Command multi-role is the whole library at work in half a minute, on real input, with real faults.
//
//	go run ./examples/multi-role
//
// It starts a NATS server in this process (on loopback, open to this machine), three instances of a role manager, each with a
// connection of its own, and a worker in a process of its own. The instances contend for three roles:
//
//	scheduler   hands out one task for each file of a directory tree; any instance, or the worker, computes the SHA-256
//	metrics     asks the Prometheus endpoint of every member and serves all of them as one
//	network     measures the round trip to every member
//
// Each role prefers another instance, so they spread. Then come three faults:
//
//   - the worker's process is killed (SIGKILL) while it runs tasks: they are run again elsewhere when its session is dead
//   - the scheduler's leader vanishes: its network path drops every byte, and nothing else happens to it; it is not told, and
//     stops by itself when its lease has run out, before anybody else leads. The next one adopts the tasks that run elsewhere
//   - another leader is stopped gracefully: it hands over when its work has returned
//
// Every task is done nevertheless, and each digest is compared with one computed here.
//
// The largest files go first (priority). A task leaves checkpoints: what is run again goes on from there.
// The largest file gets a second task, a twin, which is cancelled while it runs. And once a second a recurring task takes
// stock of the tree: each tick once, whoever leads when.
//
//	files ──► submitter ──► stream of tasks ──► scheduler's leader ──► instances, worker ──► outcomes ──► verdict
//	                              │                    │                  │         │
//	                         NATS server ◄── link ── manager: one session,   a process: one session,
//	                                          ▲      three roles             no role
//	                                          │                              ▲
//	                                          └── cut: it vanishes           └── SIGKILL
//
// # What it shows
//
//   - tasks: every submitted one has exactly one outcome, with the right digest; reruns are attempts beyond the first
//   - killed: the tasks that the worker ran when it was killed, who ran them again, and when the last of them did
//   - ticks: each second from the first to the last has one, through all fail-overs
//   - fail-overs: from the moment at which the leader vanished, or from when the work of a stopped one had returned, to the
//     first line of the next leader's work
//   - overlaps: each Lead notes its first and its last moment on the one monotonic clock of this process; no two of them
//     may share time in one role. Clocks of two processes cannot be compared, so there it is not known
//
// The exit status is 0 if nothing was lost, wrong or overlapped, and no instance or worker has ended by itself. A file that cannot
// be read, or is gone, is a failure that its outcome says: reported, and no broken promise.
//
// With -nats it uses a server or cluster of yours; started several times on one URL, the processes form one cluster, each
// with tasks of its own. They must see the same files. See -help for the rest.
//
// # Files
//
// To see how the library is used, read in this order:
//
//	instance.go       a role manager with its three roles, from parts to the graceful end
//	worker.go         a process without roles, which runs tasks
//	schedulerrole.go  tasks: the leader hands them out, everybody works
//	checksum.go       a kind of task, and its handler, with progress and checkpoints
//	inventory.go      a recurring task; listing what became of it
//	hedge.go          a second task for the same file; cancelling
//	networkrole.go    a role with a loop as its work; something attached to the session
//	metricsrole.go    another; scrape.go: Prometheus endpoints in and out
//	job.go            submitting tasks and waiting for outcomes; verdict.go: what is right
//
// The rest is the play around it:
//
//	main.go, play.go    the run, from the command line to the exit status; flags.go
//	backbone.go         the embedded server, or the one at -nats
//	cluster.go          the instances of this process together
//	process.go          the worker's process, as the one that kills it sees it
//	faults.go           what is done to leaders, and how long a role is without one then
//	killed.go           what is done to the worker, and who runs its tasks then
//	fate.go             what becomes of an instance or the worker
//	intervals.go        who led what and when, and the search for overlaps; events.go: what else is worth telling
//	files.go, pace.go   the tree, digests and task ids; how fast files are read
//	screen.go, table.go, report.go    what a person sees, and the JSON document
//	endpoint.go, page.go              HTTP: of each instance, and of -http
package main
