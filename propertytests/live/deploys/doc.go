// Package deploys plays weeks in which a new build of a program is rolled out every hour, on the
// real server and in virtual time. Each build knows kinds that its predecessor did not, and has
// forgotten one. It decodes a kind's input in another shape, declares other limits under a higher
// version, seals with another key, and defines the recurrence again. Old and new processes run
// beside each other; an old one is told to end (SIGTERM), and now and then one crashes instead.
//
// Promises:
//   - No task is lost: each one that was submitted ends within half an hour, and so does each tick.
//   - None is dead but by its own fault: one whose handler always fails, and no other.
//   - No task runs again once its success is stored.
//   - A limit that is declared counts, for the tasks of the build before too.
//   - A group has one completion, which knows how each member has ended.
//
// Failures are told with the seed. A run in which nothing was rejected, drained, taken over or
// bounded has shown nothing, and fails.
//
//	go test ./propertytests/live/deploys -deploys.hours 168
//	go run ./propertytests/campaign schedules -of deploys
package deploys
