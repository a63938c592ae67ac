package main

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// sockets is the directory of PostgreSQL's socket, and missing is why there is none.
var (
	sockets string
	missing error
)

func init() { runtime.LockOSThread() } // the server ends with the thread that has started it: the main one

// TestMain starts a PostgreSQL for all tests, which listens on a Unix socket alone, and ends it.
func TestMain(m *testing.M) {
	programs, err := installed()
	if err != nil {
		missing = fmt.Errorf("this needs initdb and postgres, as of Debian's package postgresql: %w", err)
		os.Exit(m.Run())
	}
	os.Exit(serve(programs, m.Run))
}

// serve runs the tests while PostgreSQL runs, as another user than root.
func serve(programs string, tests func() int) int {
	dir, err := os.MkdirTemp("", "postgres-")
	defer os.RemoveAll(dir)
	as := &syscall.SysProcAttr{Pdeathsig: syscall.SIGQUIT}
	if err == nil && os.Geteuid() == 0 {
		as.Credential, err = other(dir)
	}
	var said strings.Builder
	data := filepath.Join(dir, "data")
	run := func(name string, args ...string) *exec.Cmd {
		cmd := exec.Command(filepath.Join(programs, name), append(args, "-D", data)...)
		cmd.Dir, cmd.SysProcAttr, cmd.Stderr = dir, as, &said
		return cmd
	}
	server := run("postgres", "-k", dir, "-c", "listen_addresses=", "-c", "fsync=off")
	if err == nil {
		err = run("initdb", "-U", "test", "-A", "trust", "-E", "UTF8", "--no-sync").Run()
	}
	if err == nil {
		err = server.Start()
	}
	code := 1
	if err == nil {
		sockets = dir
		if err = answers(); err == nil {
			code = tests()
		}
		err = errors.Join(err, server.Process.Signal(os.Interrupt), server.Wait()) // a fast end
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "PostgreSQL: %v\n%s", err, said.String())
		return 1
	}
	return code
}

// home is the database in which others are made.
func home() string { return "postgres:///postgres?user=test&host=" + sockets }

// answers waits until PostgreSQL takes somebody.
func answers() error {
	db, err := sql.Open("pgx", home())
	if err != nil {
		return err
	}
	defer db.Close()
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if err = db.Ping(); err == nil || time.Now().After(end) {
			return err
		}
	}
}
