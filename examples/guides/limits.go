package guides

import (
	"context"

	"github.com/rolemanager/rolemanager/assign"
)

// export is a kind whose tasks load a database: two of them at once, on all workers together.
var export = assign.NewKind[string, string]("export.v1",
	assign.Concurrency(2),
	assign.Rate(10),
	assign.LimitsVersion(1),
)

// declare stores the limits of the kind. A program calls it whenever it starts.
func declare(ctx context.Context, in assign.Submitter) error {
	return assign.Declare(ctx, in, export)
}
