package roles

import (
	"fmt"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/rolemanager/rolemanager/event"
)

// LogSink tells a logger every event, with the same fields everywhere: bucket, instance, session, correlation (one id per
// session and term), role and epoch where there are any.
//
//	Debug   heartbeats, claims, other members, tasks, validations
//	Info    promotions, demotions, drains, rotations, changes of leader, vacancies, the session and the connection
//	Warn    what somebody should look at: stuck or returned work, lost sessions and connections, faults, kills, refusals
//	Error   panics
//
// No event holds a token, and so no line does. A nil logger logs nothing.
func LogSink(log *zap.Logger) event.Sink {
	if log == nil {
		log = zap.NewNop()
	}
	log = log.WithOptions(zap.WithCaller(false)) // it would always be this file
	return event.SinkFunc(func(e event.Event) {
		if frequent(e) && !log.Core().Enabled(zap.DebugLevel) {
			return
		}
		l := describe(e)
		if entry := log.Check(l.level, l.message); entry != nil {
			entry.Write(append(common(event.MetaOf(e)), l.fields...)...)
		}
	})
}

// line is what the log says of one event.
type line struct {
	level   zapcore.Level
	message string
	fields  []zap.Field
}

func at(level zapcore.Level, message string, fields ...zap.Field) line {
	return line{level, message, fields}
}

func common(m event.Meta) []zap.Field {
	fields := make([]zap.Field, 0, 12)
	return append(fields, zap.String("bucket", m.Bucket), zap.String("instance", m.Instance),
		zap.Uint64("session", m.Session), zap.String("correlation", m.Correlation))
}

// term are the fields of an event about a term.
func term(role string, epoch uint64, more ...zap.Field) []zap.Field {
	return append([]zap.Field{zap.String("role", role), zap.Uint64("epoch", epoch)}, more...)
}

// worse is level, but Warn when something is wrong.
func worse(wrong bool, level zapcore.Level) zapcore.Level {
	if wrong {
		return zap.WarnLevel
	}
	return level
}

// describe finds the words for an event.
func describe(e event.Event) line {
	for _, of := range []func(event.Event) (line, bool){describeRole, describeSession, describeFence, describeTask} {
		if l, ok := of(e); ok {
			return l
		}
	}
	return at(zap.DebugLevel, event.Name(e)) // of a later version
}

func describeRole(e event.Event) (line, bool) {
	switch e := e.(type) {
	case event.RolePromoted:
		return at(zap.InfoLevel, "promoted", term(e.Role, e.Epoch, zap.Int("priority", e.Priority), zap.Duration("vacant", e.Vacant))...), true
	case event.RoleDemoted:
		return at(zap.InfoLevel, "demoted", term(e.Role, e.Epoch, zap.String("reason", e.Reason), zap.Duration("led", e.Led))...), true
	case event.RoleDrained:
		return at(zap.InfoLevel, "drained", term(e.Role, e.Epoch, zap.Duration("took", e.Took))...), true
	case event.RoleRotated:
		return at(zap.InfoLevel, "rotated", term(e.Role, e.Epoch)...), true
	case event.LeaderChanged:
		return at(zap.InfoLevel, "leader changed", term(e.Role, e.Epoch, zap.String("leader", e.Leader))...), true
	case event.RoleVacant:
		return at(zap.InfoLevel, "role vacant", zap.String("role", e.Role), zap.String("by", e.By), zap.String("reason", e.Reason)), true
	case event.RoleStuck:
		return at(zap.WarnLevel, "stuck: the work has not returned after its term", term(e.Role, e.Epoch, zap.Duration("since", e.Since))...), true
	case event.WorkReturned:
		return returned(e), true
	case event.CallbackPanicked:
		return at(zap.ErrorLevel, "callback panicked", zap.String("role", e.Role), zap.String("callback", e.Callback),
			zap.String("panic", fmt.Sprint(e.Value)), zap.ByteString("stack", e.Stack)), true
	}
	return line{}, false
}

// returned tells the commonest mistake from a failure.
func returned(e event.WorkReturned) line {
	switch {
	case e.Panic:
		return at(zap.ErrorLevel, "the work panicked, the role is given up", term(e.Role, e.Epoch, zap.Error(e.Err))...)
	case e.Err != nil:
		return at(zap.WarnLevel, "the work failed, the role is given up", term(e.Role, e.Epoch, zap.Error(e.Err))...)
	}
	return at(zap.WarnLevel, "the work returned before its term had ended, the role is given up: Lead has to block until ctx ends",
		term(e.Role, e.Epoch)...)
}
