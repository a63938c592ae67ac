package stage

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/google/uuid"
)

// options are those of the command line.
type options struct {
	nats      string        // URL, "" for the embedded server
	replicas  int           // of the bucket and of the stream of tasks
	instances int           // managers in this process
	dir       string        // tree whose files are the tasks
	rate      float64       // bytes per second that one task reads; 0: from the size of the tree
	ttl       time.Duration // of a session's lease
	json      bool
	once      bool
	http      string // address to listen on, "" for none
	id        string // prefix of the instance ids
	bucket    string // of the roles, and the namespace of the tasks
}

const usage = `multi-role runs a cluster of role managers, with real work, through a killed worker, a crash and a
graceful stop, and checks the result.

Usage: multi-role [flags]

  Without flags: an embedded NATS server, three instances that contend for three roles, a worker in a process of
  its own, and one task for each file of this module. The exit status is 0 if every task had its one right outcome
  and no two instances ever led one role at a time, 1 if not, 2 if the command line is wrong, 130 if it was
  interrupted before the tasks were done.

Flags:
`

// errUsage ends the message about a wrong command line.
var errUsage = errors.New("see multi-role -help")

// parse reads the command line. On -help it prints the usage to help and returns flag.ErrHelp. Any
// other fault is errUsage, in one line.
func parse(args []string, help io.Writer) (options, error) {
	o, fs := options{}, flag.NewFlagSet("multi-role", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.Usage = func() {} // not for every fault
	fs.StringVar(&o.nats, "nats", "",
		"`URL` of a NATS server or cluster with JetStream; several processes on one URL form one cluster "+
			"(default: an embedded server)")
	fs.IntVar(&o.replicas, "replicas", 1,
		"replicas of the bucket and of the tasks, 1, 3 or 5; more than one needs -nats with a cluster")
	fs.IntVar(&o.instances, "instances", 3, "role managers in this process, each with a connection of its own")
	fs.StringVar(&o.dir, "dir", "",
		"`directory` whose files are hashed (default: the nearest parent with a go.mod, else the working directory)")
	fs.Float64Var(&o.rate, "rate", 0,
		"`bytes per second` that each running task reads (default: such that the whole tree takes about 10 s)")
	fs.DurationVar(&o.ttl, "ttl", 2*time.Second, "how long an instance must be silent before the others take its roles")
	fs.BoolVar(&o.json, "json", false, "print one JSON report on stdout, and the progress on stderr")
	fs.BoolVar(&o.once, "once", true, "end when the tasks are done; with -once=false keep the roles until interrupted")
	fs.StringVar(&o.http, "http", "",
		"`address` to serve on: the live page about the cluster, /status /livez /readyz /leaderz and, of all instances "+
			"together, /metrics")
	fs.StringVar(&o.id, "id", "", "`prefix` of the instance ids PREFIX-1, PREFIX-2, … (default hostname-<8 hex>)")
	fs.StringVar(&o.bucket, "bucket", "multi-role", "`name` of the KV bucket, and of the namespace of the tasks")

	err := fs.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(help, usage)
		fs.SetOutput(help)
		fs.PrintDefaults()
		return o, flag.ErrHelp
	case err == nil && fs.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q", fs.Arg(0))
	case err == nil:
		err = o.complete()
	}
	if err != nil {
		return o, fmt.Errorf("%w; %w", err, errUsage)
	}
	return o, nil
}

var (
	bucketName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	idPrefix   = regexp.MustCompile(`^[a-zA-Z0-9_=-]+(\.[a-zA-Z0-9_=-]+)*$`)
)

// complete fills in the defaults that depend on where the program runs, and checks the rest.
func (o *options) complete() error {
	if o.dir == "" {
		wd, err := os.Getwd()
		if err != nil {
			return err
		}
		o.dir = moduleRoot(wd)
	}
	if o.id == "" {
		o.id = defaultID()
	}
	var faults []string
	check := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, fmt.Sprintf(format, args...))
		}
	}
	check(o.instances >= 1 && o.instances <= 100, "-instances is %d, and must be 1 to 100", o.instances)
	check(o.replicas == 1 || o.replicas == 3 || o.replicas == 5, "-replicas is %d, and must be 1, 3 or 5", o.replicas)
	check(o.replicas == 1 || o.nats != "",
		"-replicas above 1 needs -nats with a cluster: the embedded server is one node")
	check(o.ttl >= 300*time.Millisecond && o.ttl <= 2*time.Minute, "-ttl is %v, and must be 300ms to 2m", o.ttl)
	check(o.rate >= 0 && !math.IsInf(o.rate, 0), // NaN is neither
		"-rate is %v, and must be a number of bytes per second above 0", o.rate)
	check(bucketName.MatchString(o.bucket), "-bucket is %q, and must be up to 64 letters, digits, - or _", o.bucket)
	check(idPrefix.MatchString(o.id),
		"-id is %q, and must be letters, digits, - _ = and single dots between them", o.id)
	if o.http != "" {
		_, _, err := net.SplitHostPort(o.http)
		check(err == nil, "-http is not an address such as localhost:8080: %v", err)
	}
	info, err := os.Stat(o.dir)
	check(err == nil, "-dir cannot be read: %v", err)
	check(err != nil || info.IsDir(), "-dir %s is not a directory", o.dir)
	if len(faults) > 0 {
		return errors.New(strings.Join(faults, "; "))
	}
	return nil
}

// moduleRoot is the nearest directory from dir upwards that holds a go.mod, else dir.
func moduleRoot(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "go.mod")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			return dir
		}
	}
}

// defaultID is the name of the host and eight random hex digits, so that no two runs share ids.
func defaultID() string {
	host, _ := os.Hostname()
	host = regexp.MustCompile(`[^a-zA-Z0-9_-]+`).ReplaceAllString(host, "-")
	if host == "" {
		host = "host"
	}
	return host + "-" + uuid.NewString()[:8]
}
