package scheduler

import (
	"time"

	"github.com/rolemanager/rolemanager/assign/internal/shortcut"
	"github.com/rolemanager/rolemanager/assign/internal/stream"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// Config configures a scheduler. Package assign documents and checks the fields.
type Config struct {
	Namespace, Role string
	SchedulerWorks  bool
	CrashBudget     int
	AgingStep       time.Duration
	AnswerTimeout   time.Duration
	Placement       tasks.Placement // nil for the default
	Stream          stream.Options
	Shortcut        *shortcut.Shortcut // to the worker of the same session
}
