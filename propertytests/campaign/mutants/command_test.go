package mutants

import (
	"io"
	"testing"

	"github.com/rolemanager/rolemanager/propertytests/campaign/runlog"
)

// TestTheDocumentQuotesTheSums: what docs/verification/runs.md says about the deaths on record is
// what the records say.
func TestTheDocumentQuotesTheSums(t *testing.T) {
	const root = "../../.."
	runlog.Quoted(t, root, "go run ./propertytests/campaign mutants -sum",
		func(w io.Writer) error { return tell(w, root) })
}
