//go:build !race

package storms_test

const (
	// stormHours is how many virtual hours the storms last together: most shapes for ten minutes,
	// "one role" for three hours, many roles and "short" for less than a minute. The weather that it
	// is then continues to its calm, and comes again until every fault has struck. CI plays 24 hours
	// more.
	stormHours = 2.0
	// stormLull is how long the quiet between them is, against what each shape says. The quiet
	// costs as much as the storms, for each hour, and in half of it as many faults strike in half
	// of the hours.
	stormLull = 0.5
	// taskStormHours is how many virtual hours the storms of tasks last together. CI plays 2.3
	// more.
	taskStormHours = 0.25

	// manyProcesses are candidates of one role, manyRoles those of each process.
	manyProcesses = 30
	manyRoles     = 300
)

// unraced are the shapes that are left out, and those of tasks: none without the race detector.
var unraced, unracedWithTasks []string
