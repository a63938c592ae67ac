package stage

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/rolemanager/rolemanager/assign"
)

// workerArgument, alone on the command line, makes the program a worker. guardArgument, with the
// URL of NATS, makes it the parent of one. workerProcess starts the latter.
const (
	workerArgument = "worker"
	guardArgument  = "guard"
)

// runGuard is the whole of the process that is the parent of the worker. It leaves its standard
// input and output to the worker.
func runGuard(url string, app App) (code int, err error) {
	program, err := os.Executable()
	if err != nil {
		return exitFaulty, err
	}
	worker := exec.Command(program, workerArgument)
	worker.Stdin, worker.Stdout, worker.Stderr = os.Stdin, os.Stdout, os.Stderr
	return app.Guard(context.Background(), url, worker)
}

// workerConfig is the configuration of the worker's process, as one JSON document on its standard
// input.
type workerConfig struct {
	URL      string
	ID       string
	Bucket   string
	Replicas int
	TTL      time.Duration
}

// runWorker is the whole of the worker's process. The worker ends gracefully when in ends. That is
// when the process that started it closes in, or is gone. It reports on out which tasks it runs.
func runWorker(in io.Reader, out io.Writer, app App) error {
	var c workerConfig
	if err := json.NewDecoder(in).Decode(&c); err != nil {
		return fmt.Errorf("a worker is started by multi-role, which tells it on standard input where to work: %w", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer listener.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() { // ends with in, or else with the process, whose last act this function is
		defer cancel()
		_, _ = io.Copy(io.Discard, in)
	}()
	log := &attemptLog{out: json.NewEncoder(out)}
	log.write(attemptLine{PID: os.Getpid()})
	return app.Worker(ctx, Config{
		ID: c.ID, URL: c.URL, Bucket: c.Bucket, Replicas: c.Replicas, TTL: c.TTL, Slots: slots, Listener: listener,
		Middleware: []assign.Middleware{log.around},
	})
}

// attemptLine reports that an attempt at a task begins or ends in the worker. The first one tells
// which process that is.
type attemptLine struct {
	ID      string
	Running bool
	PID     int
}

// attemptLog writes a line before a handler begins, and another before the cluster knows its end.
// So a task waits while the process that started the worker is suspended and reads nothing. It does
// not wait when that process is gone.
type attemptLog struct {
	mu  sync.Mutex
	out *json.Encoder
}

func (l *attemptLog) around(next assign.HandlerFunc) assign.HandlerFunc {
	return func(ctx context.Context, t *assign.Task[[]byte]) ([]byte, error) {
		if recurs(t.ID()) {
			return next(ctx, t)
		}
		l.write(attemptLine{ID: t.ID(), Running: true})
		defer l.write(attemptLine{ID: t.ID()})
		return next(ctx, t)
	}
}

func (l *attemptLog) write(line attemptLine) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.out.Encode(line)
}
