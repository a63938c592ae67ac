package roles

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// output writes lines to one logger.
type output struct {
	enabled func(slog.Level) bool
	write   func(line)
}

// zapOutput writes lines without caller and stack: both would always be those of the sink.
func zapOutput(log *zap.Logger) output {
	log = log.WithOptions(zap.WithCaller(false), zap.AddStacktrace(zapcore.InvalidLevel))
	return output{
		enabled: func(level slog.Level) bool { return log.Core().Enabled(zapLevel(level)) },
		write: func(l line) {
			entry := log.Check(zapLevel(l.level), l.message)
			if entry == nil {
				return
			}
			fields := make([]zap.Field, 0, len(l.fields))
			for _, f := range l.fields {
				if !f.Equal(slog.Attr{}) {
					fields = append(fields, zap.Any(f.Key, f.Value.Any()))
				}
			}
			entry.Write(fields...)
		},
	}
}

// zapLevel is the level of the same name: there are four steps of slog to one of zap, and 0 is Info
// in both.
func zapLevel(level slog.Level) zapcore.Level { return zapcore.Level(level / 4) }

// slogOutput asks for the handler for each line, because the default handler may be replaced at any
// moment.
func slogOutput(handler func() slog.Handler) output {
	return output{
		enabled: func(level slog.Level) bool { return handler().Enabled(context.Background(), level) },
		write: func(l line) {
			record := slog.NewRecord(time.Now(), l.level, l.message, 0)
			record.AddAttrs(l.fields...)
			_ = handler().Handle(context.Background(), record) // nobody could act on it
		},
	}
}

// warningsOutput is the output of a manager to which no log was given. Warnings and errors go to
// slog.Default(). After the first of them, a line also says when a connection or a session is back.
func warningsOutput() output {
	to := slogOutput(func() slog.Handler { return slog.Default().Handler() })
	var warned atomic.Bool
	return output{
		enabled: func(level slog.Level) bool { return level >= slog.LevelInfo && to.enabled(level) },
		write: func(l line) {
			if l.level >= slog.LevelWarn {
				warned.Store(true)
			} else if !l.relief || !warned.Load() {
				return
			}
			to.write(l)
		},
	}
}
