package roles

import (
	"log/slog"

	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/wording"
)

// line is the log line of one event. This is the one place where its content is decided; the
// outputs only write it.
type line struct {
	level   slog.Level
	message string
	fields  []slog.Attr
	// repeats identifies lines that may repeat, "" for a line that is always written.
	repeats string
	// relief says that the line reports the end of a fault.
	relief bool
}

func at(level slog.Level, message string, fields ...slog.Attr) line {
	return line{level: level, message: message, fields: fields}
}

// term returns the fields of an event about a term.
func term(role string, epoch uint64, more ...slog.Attr) []slog.Attr {
	return append([]slog.Attr{slog.String("role", role), slog.Uint64("epoch", epoch)}, more...)
}

// worse is level, but Warn when something is wrong.
func worse(wrong bool, level slog.Level) slog.Level {
	if wrong {
		return slog.LevelWarn
	}
	return level
}

// describe returns the line of an event.
func describe(e event.Event) line {
	for _, of := range []func(event.Event) (line, bool){describeRole, describeSession, describeFence, describeTask} {
		if l, ok := of(e); ok {
			return l
		}
	}
	return at(slog.LevelDebug, event.Name(e)) // of a later version
}

// failure is an error as a field, no field for nil. The text in a log has no names of packages.
func failure(err error) slog.Attr {
	if err == nil {
		return slog.Attr{}
	}
	return slog.String("error", wording.Plain(err))
}
