// Package dashboard is a live page about the roles and tasks of a bucket: one http.Handler that any
// program can mount.
//
//	o, err := election.Observe(ctx, nc, "roles", election.WithWorkers())
//	h, err := dashboard.New(dashboard.Options{Observer: o, Tasks: []*assign.Client{jobs}})
//	http.Handle("/", h)
//
// The first screen says who leads what, what nobody leads, what waits and why, and what to do.
// Other screens show one role, the members, the tasks, one task, the dead tasks, the findings of
// the doctor, and the events. The URL of a screen holds its filter, and with .json in its path it
// answers the same as JSON.
//
// # Promises
//
//   - Without [Options].Steer the page changes nothing, and answers GET and HEAD only. With it, an
//     act is confirmed, names the person, and goes through the requests that rolectl sends. A
//     request of another origin is refused.
//   - No fencing token leaves, and no input, header or checkpoint of a task, unless
//     [Options].ShowPayloads is set.
//   - However many people look, there is one picture: the Observer, and one question at a time to
//     each scheduler, asked only while somebody looks at it.
//   - A page asks nothing of another origin, and its answers forbid that to the browser.
//   - An open page shows a change within 250 ms. Without JavaScript it shows the state of the
//     moment in which it was loaded.
//
// # Failures
//
// While the connection is down the page says since when its picture is old, and shows that picture.
// A reader that does not read for 10 s is disconnected; its browser comes back by itself. A stream
// above the 500th is refused with 503, and that page asks again later. Open pages show at most 256
// different screens with their filters: one more says that it is not live, until another is closed.
// A scheduler that does not answer is shown as such, and everything else continues. If dead tasks
// cannot be counted, the last count stays, and the page says so.
//
// The page shows all that an observer sees. It asks nobody for a password: mount it behind what
// your program uses for that.
package dashboard
