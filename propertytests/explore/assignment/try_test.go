package assignment

import (
	"fmt"
	"os"
	"runtime/pprof"
	"strconv"
	"strings"
	"testing"

	"github.com/rolemanager/rolemanager/propertytests/explore/search"
)

func TestTry(t *testing.T) {
	n, _ := strconv.Atoi(os.Getenv("N"))
	f, _ := strconv.Atoi(os.Getenv("F"))
	tk, _ := strconv.Atoi(os.Getenv("TASKS"))
	c := &Config{Leaders: 2, Tasks: tk, Slots: 1, Faults: f, Most: map[Fault]int{}}
	for i := range Faults {
		if os.Getenv("ONLY") == "" || strings.Contains(os.Getenv("ONLY"), i.String()) {
			c.Most[i] = f
		}
	}
	if p := os.Getenv("PROF"); p != "" {
		fl, _ := os.Create(p)
		pprof.StartCPUProfile(fl)
		defer pprof.StopCPUProfile()
	}
	x := New(c)
	r := search.Run(x, search.Bounds{States: n, Every: func(r search.Report) { fmt.Println(r) }})
	fmt.Println(r, "widest", r.Widest)
	if r.Violation != nil {
		fmt.Println(strings.Join(r.Violation.Story, "\n"))
		fmt.Println(r.Violation.Err)
	}
}
