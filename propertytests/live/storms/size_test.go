//go:build !race

package storms_test

const (
	// stormHours is how many virtual hours the storms last together: most shapes for 20 minutes, "one
	// role" for 7 hours, many roles and "short" for about a minute. The weather that it is then
	// continues to its calm, and comes again until every fault has struck. CI plays 40 hours more.
	stormHours = 8.0
	// stormLull is how long the quiet between them is, against what each shape says. The quiet
	// costs as much as the storms, for each hour, and in half of it as many faults strike in half
	// of the hours.
	stormLull = 0.5
	// taskStormHours is how many virtual hours the storms of tasks last together. CI plays two more.
	taskStormHours = 0.5

	// manyProcesses are candidates of one role, manyRoles those of each process.
	manyProcesses = 30
	manyRoles     = 300
)

// unraced are the shapes that are left out: none without the race detector.
var unraced []string
