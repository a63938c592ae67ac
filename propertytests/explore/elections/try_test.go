package elections

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
	members, _ := strconv.Atoi(os.Getenv("MEMBERS"))
	f, _ := strconv.Atoi(os.Getenv("F"))
	lead, _ := strconv.Atoi(os.Getenv("LEAD"))
	roles, _ := strconv.Atoi(os.Getenv("ROLES"))
	c := &Config{Members: members, Roles: roles, Lead: lead, TTL: 6, Heartbeat: 2, Margin: 2, OpTimeout: 1, MaxTTL: 6, Delta: 0, CoolDown: 1, Drain: 6, Coarse: os.Getenv("FINE") == "", Settled: os.Getenv("COLD") == "", Faults: f, Most: map[Fault]int{}}
	if lead == 0 {
		c.TTL, c.MaxTTL, c.Heartbeat, c.Margin, c.Drain = 3, 3, 1, 1, 3
	}
	if os.Getenv("PRIO") != "" {
		c.Priorities = []int{0, 1, 2}
		c.Takeover = true
	}
	if os.Getenv("IDLE") != "" {
		c.MaxTTL = 2 * c.TTL
		c.IdleFactor = 2
	}
	if os.Getenv("DELTA") != "" {
		c.Delta = 1
	}
	if os.Getenv("ROT") != "" {
		c.Rotation = c.TTL
	}
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
	fmt.Println("reactions", x.reactions.Hits, x.reactions.Asks, "procs", x.processes.Hits, x.processes.Asks, "later", x.later.Hits, x.later.Asks, "wires", x.wires.Hits, x.wires.Asks)
	if r.Violation != nil {
		fmt.Println(strings.Join(r.Violation.Story, "\n"))
		fmt.Println(r.Violation.Err)
	}
}
