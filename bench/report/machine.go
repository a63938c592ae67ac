package main

import (
	"bufio"
	"fmt"
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
	fmt.Fprintf(&b, " Load when it began: %s.", strings.Join(strings.Fields(first("/proc/loadavg"))[:3], ", "))
	if quick {
		b.WriteString(" **A quick run: the sizes are small and the figures worth nothing.**")
	}
	return b.String()
}

func first(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return "? ? ?"
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
