package main

import (
	"bufio"
	"context"
	"fmt"
	"log"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// describe says in one paragraph where and when this is measured.
func describe(quick bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Measured on %s with %d processors (%s), %s, Linux %s, %s, nats-server %s, file storage.",
		time.Now().UTC().Format("2006-01-02"), runtime.NumCPU(), field("/proc/cpuinfo", "model name"),
		memory(), first("/proc/sys/kernel/osrelease"), strings.Replace(runtime.Version(), "go", "Go ", 1), server())
	fmt.Fprintf(&b, " Files on %s. Load when it began: %s.", fileSystem(os.TempDir()), load())
	if quick {
		b.WriteString(" **A quick run: the sizes are small and the figures worth nothing.**")
	}
	return b.String()
}

// quiet waits until the machine has had little to do for a minute, as long as patience lasts: also
// what was measured before is a load.
func quiet(ctx context.Context, what string, patience time.Duration) {
	for end := time.Now().Add(patience); time.Now().Before(end); {
		var minute float64
		if _, err := fmt.Sscan(load(), &minute); err != nil || minute < 0.3 {
			return
		}
		log.Printf("%s: waits for a quiet machine, its load is %s", what, load())
		select {
		case <-ctx.Done():
			return
		case <-time.After(20 * time.Second):
		}
	}
}

// load is how many wanted a processor in the last minute, five and fifteen.
func load() string {
	fields := strings.Fields(first("/proc/loadavg"))
	return strings.Join(fields[:min(len(fields), 3)], " ")
}

// fileSystem is of what kind the one is that a directory is on: on some a sync costs nothing.
func fileSystem(dir string) string {
	out, err := exec.Command("stat", "-f", "-c", "%T", dir).Output()
	if err != nil {
		return "?"
	}
	return strings.TrimSpace(string(out))
}

func first(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return "?"
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return line
}

func field(path, name string) string {
	f, err := os.Open(path)
	if err != nil {
		return "?"
	}
	defer func() { _ = f.Close() }() // read only
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if key, v, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(v)
		}
	}
	return "?"
}

func memory() string {
	var kib int
	if _, err := fmt.Sscan(field("/proc/meminfo", "MemTotal"), &kib); err != nil {
		return "?"
	}
	return fmt.Sprintf("%d GiB", (kib+1<<19)>>20)
}

// server is the version of the embedded NATS server.
func server() string {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Version}}", "github.com/nats-io/nats-server/v2").Output()
	if err != nil {
		return "?"
	}
	return strings.TrimPrefix(strings.TrimSpace(string(out)), "v")
}
