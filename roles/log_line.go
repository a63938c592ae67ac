package roles

import (
	"log/slog"
	"strings"

	"github.com/rolemanager/rolemanager/event"
)

// line is what the log says of one event. This is the one place where that is decided: the outputs only write it.
type line struct {
	level   slog.Level
	message string
	fields  []slog.Attr
	// repeats names what may be said again and again, "" for what is always said.
	repeats string
	// relief says that the line tells of the end of a trouble.
	relief bool
}

func at(level slog.Level, message string, fields ...slog.Attr) line {
	return line{level: level, message: message, fields: fields}
}

// term are the fields of an event about a term.
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

// describe finds the words for an event.
func describe(e event.Event) line {
	for _, of := range []func(event.Event) (line, bool){describeRole, describeSession, describeFence, describeTask} {
		if l, ok := of(e); ok {
			return l
		}
	}
	return at(slog.LevelDebug, event.Name(e)) // of a later version
}

// failure is an error as a field, none for nil. In a log the text needs no name of a package in front.
func failure(err error) slog.Attr {
	if err == nil {
		return slog.Attr{}
	}
	return slog.String("error", plain(err))
}

// plain is the text of an error without the name of our package that made it.
func plain(err error) string {
	text := err.Error()
	for _, name := range []string{"election: ", "assign: ", "roles: ", "fencing: "} {
		if rest, ours := strings.CutPrefix(text, name); ours {
			return rest
		}
	}
	return text
}
