package roles_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/roles"
)

// sameInSlog compares the line of SlogSink for an event with the line of LogSink.
func sameInSlog(t *testing.T, e event.Event, zapped observer.LoggedEntry) {
	t.Helper()
	var out bytes.Buffer
	roles.SlogSink(slog.New(slog.NewJSONHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))).Observe(e)
	var line map[string]any
	if err := json.Unmarshal(out.Bytes(), &line); err != nil {
		t.Fatalf("%s: %v in %q", event.Name(e), err, out.String())
	}
	if line["msg"] != zapped.Message || line["level"] != strings.ToUpper(zapped.Level.String()) {
		t.Errorf("%s: %v %q in slog, %s %q in zap", event.Name(e), line["level"], line["msg"], zapped.Level, zapped.Message)
	}
	for _, of := range []string{"time", "level", "msg"} {
		delete(line, of)
	}
	fields := slices.Sorted(maps.Keys(line))
	if want := slices.Sorted(maps.Keys(zapped.ContextMap())); !slices.Equal(fields, want) {
		t.Errorf("%s: fields %v in slog, %v in zap", event.Name(e), fields, want)
	}
}

func TestSlogSinkWithoutLogger(t *testing.T) {
	roles.SlogSink(nil).Observe(event.SessionOpened{})
}

// A line has no stack, even if the logger adds a stack to every warning: the stack of the sink
// helps nobody.
func TestNoStackOfTheSink(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log")
	development := zap.NewDevelopmentConfig()
	development.OutputPaths = []string{file}
	logger, err := development.Build()
	if err != nil {
		t.Fatal(err)
	}
	sink := roles.LogSink(logger)
	for _, e := range []event.Event{
		event.SessionOpened{},
		event.SessionLost{Cause: errors.New("cut")},
		event.Fault{Doing: "heartbeat", Err: errors.New("late")},
		event.WorkReturned{Role: "r", Err: errors.New("boom"), Panic: true},
	} {
		sink.Observe(e)
	}
	out, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(out, []byte("\n")); n != 4 || bytes.Contains(out, []byte(".go:")) {
		t.Errorf("%d lines for 4 events, want one for each, without a place in the source:\n%s", n, out)
	}
}

// A fault that repeats is logged at once, and then once in ten seconds; another fault is logged
// beside it.
func TestRepeatedFaults(t *testing.T) {
	natstest.Virtual(t, func(t *testing.T) {
		var out bytes.Buffer
		sink := roles.SlogSink(slog.New(slog.NewTextHandler(&out, nil)))
		for i := range 60 {
			sink.Observe(event.Fault{Doing: "heartbeat", Err: errors.New("late"), Attempts: i + 1})
			sink.Observe(event.Fault{Doing: "vacate", Role: "r", Err: errors.New("late"), Attempts: i + 1})
			time.Sleep(time.Second)
		}
		for _, doing := range []string{"heartbeat failed", "vacate failed"} {
			if n := strings.Count(out.String(), doing); n != 6 {
				t.Errorf("%s: said %d times within a minute, want 6\n%s", doing, n, out.String())
			}
		}
	})
}
