package stage

import (
	"bytes"
	"errors"
	"flag"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	root := plant(t, "go.mod", "sub/file")
	t.Chdir(filepath.Join(root, "sub"))
	o, err := parse(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defaults := options{
		instances: 3, replicas: 1, ttl: 2 * time.Second, once: true, bucket: "multi-role", dir: o.dir, id: o.id,
	}
	if o != defaults {
		t.Errorf("defaults: %+v, want %+v", o, defaults)
	}
	if same, _ := filepath.EvalSymlinks(root); o.dir != root && o.dir != same {
		t.Errorf("directory is %s, want %s", o.dir, root)
	}
	again, err := parse(nil, nil)
	if err != nil || again.id == o.id {
		t.Errorf("two runs have the id %s (%v)", o.id, err)
	}
	o, err = parse([]string{
		"-nats", "nats://a:4222,nats://b:4222", "-replicas=3", "-instances", "5", "-dir", root, "-rate", "1e6",
		"-ttl", "500ms", "-json", "-once=false", "-http", "localhost:0", "-id", "east.1", "-bucket", "demo",
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := options{
		nats: "nats://a:4222,nats://b:4222", replicas: 3, instances: 5, dir: root, rate: 1e6,
		ttl: 500 * time.Millisecond, json: true, once: false, http: "localhost:0", id: "east.1", bucket: "demo",
	}
	if o != want {
		t.Errorf("got %+v, want %+v", o, want)
	}
}

func TestParseFaults(t *testing.T) {
	for args, says := range map[string]string{
		"-instances 0":             "-instances",
		"-instances x":             "-instances",
		"-replicas 3":              "needs -nats",
		"-replicas 9 -nats u":      "-replicas",
		"-ttl 10ms":                "-ttl",
		"-ttl 3h":                  "-ttl",
		"-ttl soon":                "-ttl",
		"-rate -1":                 "-rate",
		"-rate NaN":                "-rate",
		"-bucket a.b":              "-bucket",
		"-id a..b":                 "-id",
		"-id .":                    "-id",
		"-http 8080":               "-http",
		"-dir /does/not/exist":     "-dir",
		"-dir flags_test.go":       "-dir",
		"-no-such-flag":            "no-such-flag",
		"-instances 2 surprise":    "surprise",
		"-once=perhaps -instances": "-once",
	} {
		_, err := parse(strings.Fields(args), nil)
		if !errors.Is(err, errUsage) || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", args, err)
		}
	}
}

func TestHelp(t *testing.T) {
	var help bytes.Buffer
	if _, err := parse([]string{"-help"}, &help); !errors.Is(err, flag.ErrHelp) {
		t.Fatal(err)
	}
	for _, name := range []string{
		"-nats", "-replicas", "-instances", "-dir", "-rate", "-ttl", "-json", "-once", "-http", "-id", "-bucket",
		"bytes per second",
	} {
		if !strings.Contains(help.String(), name) {
			t.Errorf("help does not explain %s", name)
		}
	}
}

func TestModuleRoot(t *testing.T) {
	root := plant(t, "go.mod", "a/b/c")
	if got := moduleRoot(filepath.Join(root, "a", "b")); got != root {
		t.Errorf("root is %s, want %s", got, root)
	}
	alone := plant(t, "a/b")
	if got := moduleRoot(filepath.Join(alone, "a")); got != filepath.Join(alone, "a") {
		t.Errorf("without a go.mod: %s", got)
	}
}
