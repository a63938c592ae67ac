package natsrun

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// serveKey names what makes a process that calls Serve a server: the options of Process, as JSON.
const serveKey = "NATSRUN_SERVE"

// served are the options that go to another process.
type served struct {
	StoreDir   string
	Port       int
	SyncAlways bool
}

// Serve makes this process the server of a Process, if it was started as one, and returns when it was told to end: true, and
// why it could not go on. It is the first thing that such a program does. step moves the program's wall clock; nil: it cannot.
//
// The server ends when the other end of its input is gone, so it does not outlive whoever has started it.
func Serve(step func(time.Duration)) (was bool, err error) {
	text, was := os.LookupEnv(serveKey)
	if !was {
		return false, nil
	}
	var o served
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return true, fmt.Errorf("natsrun: read %s: %w", serveKey, err)
	}
	s, err := Start(Options{StoreDir: o.StoreDir, Listen: true, Port: o.Port, SyncAlways: o.SyncAlways})
	if err != nil {
		return true, err
	}
	if err := obey(s, os.Stdin, os.Stdout, step); err != nil {
		return true, err
	}
	return true, s.Shutdown()
}

// obey says where the server is, and carries out one line after the other until there are no more.
func obey(s *Server, in io.Reader, out io.Writer, step func(time.Duration)) error {
	if _, err := fmt.Fprintln(out, "ready", s.port); err != nil {
		return err
	}
	for lines := bufio.NewScanner(in); lines.Scan(); {
		verb, rest, _ := strings.Cut(lines.Text(), " ")
		d, err := time.ParseDuration(rest)
		if verb != "step" || err != nil || step == nil {
			return fmt.Errorf("natsrun: a server of its own cannot %q", lines.Text())
		}
		step(d)
		if _, err := fmt.Fprintln(out, "now", time.Now().UnixNano()); err != nil {
			return err
		}
	}
	return nil
}
