// Package schedules plays simulated schedules, and storms on the real server in virtual time, range
// after range of seeds, and adds a line to propertytests/campaign/schedules.csv for each range. It
// continues where the file ends, so that a long run can be stopped at any time, and nothing is
// played twice.
//
//	go run ./propertytests/campaign schedules -of elections -for 1h
//	go run ./propertytests/campaign schedules -of losses -for 1h
//	go run ./propertytests/campaign schedules -of deploys -for 1h
//	go run ./propertytests/campaign schedules -of storms -for 1h
//	go run ./propertytests/campaign schedules -sum
//	go run ./propertytests/campaign schedules -rules
//
// Losses are schedules of elections in which the bucket loses its newest writes.
//
// A violation is told as the test tells it, is counted in the file, and ends the run. The line of
// its range says how many schedules were played, the one with the violation among them, and has the
// counters that the test tells then, or 0 where it tells none. The last seed is that of the
// violation, if it was drawn by its seed, and the next run continues behind it. Of a test that ends
// without saying how far it came, as in a panic, no schedule is counted. Older lines with a
// violation and without terms give the whole range instead of what was played.
//
// A range of storms is so many virtual hours of all shapes of live/storms together: 200 of
// elections, 16 of tasks (taskstorms), unless -range sets others. Of fewer than 40, or 4, not
// everything that is rare is wanted. Under "schedules" stands how many storms that were; under
// "terms", for tasks, those of schedulers; its seeds are all that it could have taken. The quiet
// after a stretch of weather is up to 45 minutes in most shapes of elections, in which sixteen
// faults or so strike in an hour, and up to 20 in most of tasks. It is not made longer here: with
// quiet four times as long a virtual hour costs hardly less, since heartbeats are most of it
// already, and has a third of the faults.
//
// A range of deploys is a week of virtual time, with a deploy each hour; under "schedules" are its
// hours, and under "faults" its deploys and crashes.
//
// Of tasks rules.csv says how often each single rule was used, and in how many schedules, for each
// mark of the rules: a schedule in which a rule was never used proves nothing about it.
//
// docs/verification/runs.md quotes the sum, up to the empty line, and a test holds it to the file.
// A commit that adds lines also updates the quote.
//
// Each line has a mark of the rules that were played (of the Go files of the core and of its
// simulation, or, for storms, of all of the library that they go through): the sum has a row for
// each mark, and says behind them which is that of the rules as they are. Lines without are older.
//
// The sum has all violations. Of a range that one has stopped it has the schedules only if there
// are counters of the same schedules; it says how many ranges it leaves out.
package schedules
