package main

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
	if o.instances != 3 || o.replicas != 1 || o.ttl != 2*time.Second || !o.once || o.json || o.nats != "" || o.http != "" || o.rate != 0 {
		t.Errorf("defaults: %+v", o)
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
	for _, name := range []string{"-nats", "-replicas", "-instances", "-dir", "-rate", "-ttl", "-json", "-once", "-http", "-id", "-bucket", "bytes per second"} {
		if !strings.Contains(help.String(), name) {
			t.Errorf("help does not explain %s", name)
		}
	}
}
