package natsrun

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// serveKey names the variable that makes a process which calls Serve a server: the options of
// Process, as JSON.
const serveKey = "NATSRUN_SERVE"

// served are the options that go to another process.
type served struct {
	StoreDir   string
	SyncAlways bool
	Advertise  string // "host:port" where clients find it
	Name       string
	Cluster    string   // its name
	Routes     []string // "host:port" of each server of the cluster, including its own; none: a standalone server
}

// Serve makes this process the server of a Process if it was started as one. It then returns true
// when it was told to end, with an error if it could not continue. A program calls it first. step
// moves the program's wall clock; nil if it cannot.
//
// The server ends when the other end of its input is gone, so it does not outlive the process that
// started it.
func Serve(step func(time.Duration)) (was bool, err error) {
	text, was := os.LookupEnv(serveKey)
	if !was {
		return false, nil
	}
	var o served
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return true, fmt.Errorf("natsrun: read %s: %w", serveKey, err)
	}
	s, err := Start(Options{
		StoreDir: o.StoreDir, Listen: true, SyncAlways: o.SyncAlways, Name: o.Name,
		Configure: func(so *server.Options) {
			so.ClientAdvertise = o.Advertise
			if len(o.Routes) > 0 {
				routed(so, o.Cluster, o.Routes)
			}
		},
	})
	if err != nil {
		return true, err
	}
	if err := obey(s, os.Stdin, os.Stdout, step); err != nil {
		return true, err
	}
	return true, s.Shutdown()
}

// obey reports where the server is, and carries out line after line until there are no more.
func obey(s *Server, in io.Reader, out io.Writer, step func(time.Duration)) error {
	if _, err := fmt.Fprintln(out, "ready", s.port); err != nil {
		return err
	}
	for lines := bufio.NewScanner(in); lines.Scan(); {
		answer, err := execute(s.Running(), lines.Text(), step)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintln(out, answer); err != nil {
			return err
		}
	}
	return nil
}

// execute carries out one line. "step 30s" moves the clock and is answered with the time, "routes"
// with the port at which the server takes them, and "state 3" with its state in a cluster of 3.
func execute(srv *server.Server, line string, step func(time.Duration)) (answer string, err error) {
	verb, rest, _ := strings.Cut(line, " ")
	switch verb {
	case "step":
		if d, err := time.ParseDuration(rest); err == nil && step != nil {
			step(d)
			return fmt.Sprint("now ", time.Now().UnixNano()), nil
		}
	case "routes":
		if addr := srv.ClusterAddr(); addr != nil {
			return fmt.Sprint("routes ", addr.Port), nil
		}
	case "state":
		if size, err := strconv.Atoi(rest); err == nil {
			return fmt.Sprintf("state %d", stateOf(srv, size)), nil
		}
	}
	return "", fmt.Errorf("natsrun: a server of its own cannot %q", line)
}
