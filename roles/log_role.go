package roles

import (
	"fmt"
	"log/slog"

	"github.com/rolemanager/rolemanager/event"
)

func describeRole(e event.Event) (line, bool) {
	switch e := e.(type) {
	case event.RolePromoted:
		return at(slog.LevelInfo, "promoted", term(e.Role, e.Epoch, slog.Int("priority", e.Priority),
			slog.Duration("gap", e.Gap))...), true
	case event.RoleDemoted:
		return at(slog.LevelInfo, "demoted", term(e.Role, e.Epoch, slog.String("reason", e.Reason),
			slog.Duration("led", e.Led))...), true
	case event.RoleDrained:
		return at(slog.LevelInfo, "drained", term(e.Role, e.Epoch, slog.Duration("took", e.Took))...), true
	case event.RoleRotated:
		return at(slog.LevelInfo, "rotated", term(e.Role, e.Epoch)...), true
	case event.RoleJoined:
		return at(slog.LevelInfo, "contends for the role", term(e.Role, e.Epoch, slog.String("leader", e.Leader))...), true
	case event.RoleLeft:
		return at(slog.LevelInfo, "left the role", slog.String("role", e.Role)), true
	case event.CandidatesChanged:
		return at(slog.LevelDebug, "candidates changed", slog.String("role", e.Role),
			slog.Int("candidates", e.Candidates)), true
	case event.LeaderChanged:
		return at(slog.LevelInfo, "leader changed", term(e.Role, e.Epoch, slog.String("leader", e.Leader))...), true
	case event.RoleVacant:
		return at(slog.LevelInfo, "role vacant", slog.String("role", e.Role), slog.String("by", e.By),
			slog.String("reason", e.Reason)), true
	case event.RoleStuck:
		return at(slog.LevelWarn, "stuck: the work has not returned after its term",
			term(e.Role, e.Epoch, slog.Duration("since", e.Since))...), true
	case event.WorkReturned:
		return returned(e), true
	case event.PromotionReturned:
		l := at(slog.LevelWarn, "OnPromote returned while the term continues: goroutines that it has started are not waited "+
			"for; block until ctx ends, or wait for them in OnDemote", term(e.Role, e.Epoch)...)
		l.repeats = "OnPromote " + e.Role
		return l, true
	case event.CallbackPanicked:
		return at(slog.LevelError, "callback panicked", slog.String("role", e.Role), slog.String("callback", e.Callback),
			slog.String("panic", fmt.Sprint(e.Value)), slog.String("stack", string(e.Stack))), true
	}
	return line{}, false
}

// returned tells the most common mistake (Lead returns nil too early) from a failure.
func returned(e event.WorkReturned) line {
	switch {
	case e.Panic:
		return at(slog.LevelError, "the work panicked, the role is given up", term(e.Role, e.Epoch, failure(e.Err))...)
	case e.Err != nil:
		return at(slog.LevelWarn, "the work failed, the role is given up", term(e.Role, e.Epoch, failure(e.Err))...)
	}
	return at(slog.LevelWarn,
		"Lead returned while the term was still on: the role is given up, and contended for again after the cool-down; "+
			"keep Lead running until ctx ends", term(e.Role, e.Epoch)...)
}
