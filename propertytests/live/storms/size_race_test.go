//go:build race

package storms_test

// The race detector makes each hour ten times as long, and what many do at once dearer still.
const (
	// stormHours is how many virtual hours the storms last together: "mixed" and "rotating" for 4
	// and 6 minutes, "short" for 22 seconds, many roles for 11, and many processes for 4. The weather
	// that it is then continues to its calm, and comes again until every fault has struck.
	stormHours = 2.0
	// stormLull is how long the quiet between them is, against what each shape says, those of tasks
	// too.
	stormLull = 0.05
	// taskStormHours is how many virtual hours the storms of tasks last together.
	taskStormHours = 0.15

	// manyProcesses are candidates of one role, manyRoles those of each process.
	manyProcesses = 8
	manyRoles     = 40
)

// unraced are shapes without any concurrency that the others do not have: "mixed" has files,
// restarts and ranks, and "rotating" has a store in memory. Of the shapes with tasks "restarts" has
// all faults, and "synced" has bundles and batches.
var (
	unraced          = []string{"one role", "restarts", "ranked"}
	unracedWithTasks = []string{"long leases", "short leases"}
)
