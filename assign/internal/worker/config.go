package worker

import (
	"time"

	"github.com/rolemanager/rolemanager/assign/internal/sealed"
	"github.com/rolemanager/rolemanager/assign/internal/shortcut"
	"github.com/rolemanager/rolemanager/assign/internal/stream"
)

// Config configures a worker. Package assign documents and checks the fields.
type Config struct {
	Namespace, Role string
	Slots           int
	Labels          map[string]string
	DrainTimeout    time.Duration
	AnswerTimeout   time.Duration
	MaxResult       int                // bytes
	Unverified      bool               // signatures are not checked
	Stream          stream.Options     // of the object store for large outputs
	Sealer          *sealed.Sealer     // nil: nothing is sealed
	Shortcut        *shortcut.Shortcut // to the scheduler of the same session, nil for none
}
