package dashboard

import (
	"errors"
	"log/slog"
	"net/http"
	"path"
	"regexp"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/election"
)

// Options configure a page. Observer is required.
type Options struct {
	// Observer is where the page sees roles and members. It stays the caller's: close it after the
	// page. With election.WithWorkers it shows worker-only members too.
	Observer *election.Observer
	// Tasks are clients of the namespaces whose tasks the page shows. They stay the caller's.
	Tasks []*assign.Client
	// Title names the system for people, such as "prod-eu". Default: the name of the bucket.
	Title string
	// Colour is the colour of the top edge, such as "#b00", so that people tell systems apart.
	// Default: a calm blue.
	Colour string
	// BasePath is the path below which the page is mounted, such as "/roles". Default: the root.
	BasePath string
	// Steer says who sends a request, and whether they may steer. The page then offers to step down,
	// transfer, pause and resume, to cancel and requeue, and to drain, each after a confirmation. It
	// is called for each request to steer, before its body is read, and the name that it returns is
	// logged. It must authenticate the person, or check that r.Host is a name of yours. Otherwise a
	// foreign site steers: it has its own name resolve to the address of the page, and the browser
	// then takes both for one origin. Default nil: nobody may steer, and the page answers no POST.
	Steer func(*http.Request) (who string, ok bool)
	// Log gets a line for each act, with the name of the person. Default: slog.Default().
	Log *slog.Logger
	// ShowPayloads shows the inputs, checkpoints and headers of tasks. Default: they are left out.
	ShowPayloads bool
}

// ConfigError is one fault of Options. All faults are joined.
type ConfigError struct {
	Field string
	// Fix says what is wrong and how to fix it.
	Fix string
}

func (e *ConfigError) Error() string { return "dashboard: " + e.Field + ": " + e.Fix }

var (
	colours = regexp.MustCompile(`^#([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$`)
	paths   = regexp.MustCompile(`^(/[A-Za-z0-9_~.-]+)*$`)
)

// validate returns all faults, joined.
func (o *Options) validate() error {
	var faults []error
	if o.Observer == nil {
		faults = append(faults, &ConfigError{"Observer", "nil: give what election.Observe has returned"})
	}
	for _, c := range o.Tasks {
		if c == nil {
			faults = append(faults, &ConfigError{"Tasks", "a client is nil: give what assign.NewClient has returned"})
		}
	}
	if o.Colour != "" && !colours.MatchString(o.Colour) {
		faults = append(faults, &ConfigError{"Colour", "write it as # and three or six hex digits, such as #b00"})
	}
	if p := o.BasePath; p != "" && (!paths.MatchString(p) || path.Clean(p) != p) {
		faults = append(faults, &ConfigError{
			"BasePath", "begin it with a slash and end it without one, such as /roles; use letters, digits and - _ ~ .; " +
				"no part of it may be . or ..",
		})
	}
	return errors.Join(faults...)
}
