package permissions_test

// rule is a subject of the system, and the users that may publish or subscribe to it. Everybody
// else may not; the owner may do everything.
type rule struct{ subject, users string }

// publishing lists every subject that anything in the system is published to, for more than one
// name where a name is in it, and what the JetStream API and the server offer beside.
var publishing = []rule{
	// Records of the bucket. A candidate may end any session, and remove what a dead one has left
	// behind.
	{"$KV.roles.c.role.scheduler", "a op"},
	{"$KV.roles.c.role.metrics", "b op"},
	{"$KV.roles.c.role.orders-0", "b op"},
	{"$KV.roles.c.role.orders-1", "b op"},
	{"$KV.roles.c.role.other", "op"},
	{"$KV.roles.shards.orders", "b"},
	{"$KV.roles.shards.others", ""},
	{"$KV.roles.c.lease.a", "a b"},
	{"$KV.roles.c.lease.b", "a b g"},
	{"$KV.roles.c.member.a", "a b"},
	{"$KV.roles.c.member.b", "a b"},
	{"$KV.roles.i.c.a", "a"},
	{"$KV.roles.i.c.b", "b"},
	{"$KV.roles.i.w.w", "w"},
	{"$KV.roles.i.w.v", ""},
	{"$KV.roles.probe.a", "a"},
	{"$KV.roles.probe.b", "b"},
	{"$KV.roles.w.lease.w", "a w"},
	{"$KV.roles.w.lease.v", "a"},
	{"$KV.roles.w.member.w", "a w"},
	{"$KV.roles.w.member.v", "a"},
	{"$KV.roles.anything", ""},
	{"$KV.other.c.role.scheduler", ""},

	// Steering, and the question whether a candidate is ready.
	{"$ROLES.roles.id.ctl.a", "op"},
	{"$ROLES.roles.id.ctl.b", "op"},
	{"$ROLES.roles.id.ready.a", "a b"},
	{"$ROLES.roles.id.ready.b", "a b"},
	{"$ROLES.other.id.ctl.a", ""},

	// Tasks: submissions and outcomes, bundles and which of their tasks have ended, notes,
	// checkpoints, cancels, unique keys, paused kinds, drained workers, limits, recurrences and their
	// ticks, the seal; announced outcomes, what watchers are told; frames, reports, questions.
	{"$KV.TASKS_jobs.q.task", "a s"},
	{"$KV.TASKS_jobs.b.task", "a s"},
	{"$KV.TASKS_jobs.e.task", "a"},
	{"$KV.TASKS_jobs.t.task", "a"},
	{"$KV.TASKS_jobs.c.task", "a"},
	{"$KV.TASKS_jobs.x.task", "a s"},
	{"$KV.TASKS_jobs.u.digest", "a s"},
	{"$KV.TASKS_jobs.p.kind", "k"},
	{"$KV.TASKS_jobs.d.w", "k"},
	{"$KV.TASKS_jobs.l.kind", "a k"},
	{"$KV.TASKS_jobs.r.often", "k"},
	{"$KV.TASKS_jobs.k.often", "a"},
	{"$KV.TASKS_jobs.seal", "a"},
	{"$TASKS.jobs.id.done.task", "a"},
	{"$TASKS.jobs.id.event.task", "a"},
	{"$TASKS.jobs.id.work.assign.w", "a"},
	{"$TASKS.jobs.id.work.cancel.w", "a"},
	{"$TASKS.jobs.id.work.sync.w", "a"},
	{"$TASKS.jobs.id.work.assign.a", "a"},
	{"$TASKS.jobs.id.report.a", "a"},
	{"$TASKS.jobs.id.report.w", "w"},
	{"$TASKS.jobs.id.report.v", ""},
	{"$TASKS.jobs.id.ctl", "a s pg"},
	{"$KV.TASKS_others.q.task", ""},
	{"$KV.TASKS_others.seal", ""},

	// The fenced store.
	{"$KV.ledger.key", "f"},
	{"$KV.ledger._fence.seal", "f"},
	{"$KV.ledger._fence.gate", "f"},

	// Large outputs.
	{"$KV.OBJ_TASKS_jobs.x", "w"},
	{"$KV.OBJ_TASKS_other.x", ""},

	// Answers to others.
	{"_INBOX_a.x", ""},
	{"_INBOX_w.x", ""},
	{"_INBOX_pg.x", ""},
	{"_INBOX_op.x", ""},
	{"_INBOX_g.x", ""},
	{"_INBOX.x", ""},

	// Requests to JetStream.
	{"$JS.API.STREAM.INFO.KV_roles", "a b w o op g pg"},
	{"$JS.API.STREAM.INFO.TASKS_jobs", "a s k pg"},
	{"$JS.API.STREAM.INFO.KV_ledger", "f r"},
	{"$JS.API.STREAM.INFO.OBJ_TASKS_jobs", "w s"},
	{"$JS.API.STREAM.MSG.GET.KV_roles", "g"},
	{"$JS.API.STREAM.MSG.GET.TASKS_jobs", "a s k pg"},
	{"$JS.API.STREAM.MSG.GET.KV_ledger", "f r"},
	{"$JS.API.STREAM.MSG.GET.OBJ_TASKS_jobs", "w s"},
	{"$JS.API.DIRECT.GET.KV_roles", ""},
	{"$JS.API.DIRECT.GET.KV_roles.$KV.roles.c.role.scheduler", ""},
	{"$JS.API.DIRECT.GET.TASKS_jobs", ""},
	{"$JS.API.DIRECT.GET.KV_ledger.$KV.ledger.key", ""},
	{"$JS.API.DIRECT.GET.OBJ_TASKS_jobs.$KV.OBJ_TASKS_jobs.x", ""},
	{"$JS.API.CONSUMER.CREATE.KV_roles.x", ""},
	{"$JS.API.CONSUMER.CREATE.KV_roles.x.$KV.roles.>", "a b o op pg"},
	{"$JS.API.CONSUMER.CREATE.KV_roles.x.$KV.roles.c.>", "a b w o op pg"},
	{"$JS.API.CONSUMER.CREATE.KV_roles.x.$KV.roles.c.role.scheduler", "a b w o op pg"},
	{"$JS.API.CONSUMER.CREATE.KV_roles.x.$KV.roles.w.*.w", "a b w o op pg"},
	{"$JS.API.CONSUMER.CREATE.KV_roles.x.$KV.roles.i.w.w", "a b w o op pg"},
	{"$JS.API.CONSUMER.CREATE.KV_roles.x.$KV.roles.i.w.v", "a b o op pg"},
	{"$JS.API.CONSUMER.CREATE.KV_roles.x.$KV.roles.w.lease.v", "a b o op pg"},
	{"$JS.API.CONSUMER.CREATE.TASKS_jobs.x", ""},
	{"$JS.API.CONSUMER.CREATE.TASKS_jobs.x.$KV.TASKS_jobs.>", "a"},
	{"$JS.API.CONSUMER.CREATE.TASKS_jobs.x.$KV.TASKS_jobs.q.>", "a s pg"},
	{"$JS.API.CONSUMER.CREATE.TASKS_jobs.x.$KV.TASKS_jobs.g.>", "a s pg"},
	{"$JS.API.CONSUMER.CREATE.TASKS_jobs.x.$KV.TASKS_jobs.r.>", "a k pg"},
	{"$JS.API.CONSUMER.CREATE.TASKS_jobs.x.$KV.TASKS_jobs.k.>", "a"},
	{"$JS.API.CONSUMER.CREATE.TASKS_jobs.x.$KV.TASKS_jobs.t.>", "a"},
	{"$JS.API.CONSUMER.CREATE.OBJ_TASKS_jobs.x.$KV.OBJ_TASKS_jobs.y.*", "s"},
	{"$JS.API.CONSUMER.CREATE.KV_ledger.x", "f"},
	{"$JS.API.CONSUMER.CREATE.KV_ledger.x.$KV.ledger.>", "f"},
	{"$JS.API.CONSUMER.DELETE.KV_roles.x", "a b w o op pg"},
	{"$JS.API.CONSUMER.DELETE.TASKS_jobs.x", "a s k pg"},
	{"$JS.API.CONSUMER.DELETE.KV_ledger.x", "f"},
	{"$JS.API.CONSUMER.DELETE.OBJ_TASKS_jobs.x", "s"},
	{"$JS.API.CONSUMER.MSG.NEXT.KV_roles.x", ""},
	{"$JS.API.CONSUMER.MSG.NEXT.TASKS_jobs.x", "a s k pg"},
	{"$JS.API.CONSUMER.MSG.NEXT.KV_ledger.x", "f"},
	{"$JS.FC.KV_roles.x.y", "a b w o op pg"},
	{"$JS.FC.TASKS_jobs.x.y", "a"},
	{"$JS.FC.OBJ_TASKS_jobs.x.y", "s"},
	{"$JS.ACK.KV_roles.x.1.1.1.1.0", ""},

	// The rest of the API, which is the owner's.
	{"$JS.API.INFO", ""},
	{"$JS.API.STREAM.NAMES", ""},
	{"$JS.API.STREAM.LIST", ""},
	{"$JS.API.STREAM.CREATE.KV_other", ""},
	{"$JS.API.META.LEADER.STEPDOWN", ""},
	{"$SYS.REQ.SERVER.PING", ""},
	{"$SYS.REQ.ACCOUNT.PING.CONNZ", ""},
	{"anything", ""},
}

// ofTheOwner are requests about one stream that nobody else may make of any.
var ofTheOwner = []string{
	"$JS.API.STREAM.CREATE.", "$JS.API.STREAM.UPDATE.", "$JS.API.STREAM.DELETE.", "$JS.API.STREAM.PURGE.",
	"$JS.API.STREAM.MSG.DELETE.", "$JS.API.STREAM.SNAPSHOT.", "$JS.API.STREAM.RESTORE.", "$JS.API.STREAM.LEADER.STEPDOWN.",
	"$JS.API.STREAM.PEER.REMOVE.", "$JS.API.CONSUMER.NAMES.", "$JS.API.CONSUMER.LIST.",
}

// ofTheOwnerNamed are such requests about one consumer.
var ofTheOwnerNamed = []string{
	"$JS.API.CONSUMER.DURABLE.CREATE.", "$JS.API.CONSUMER.INFO.", "$JS.API.CONSUMER.PAUSE.", "$JS.API.CONSUMER.UNPIN.",
	"$JS.API.CONSUMER.LEADER.STEPDOWN.",
}

var streams = []string{"KV_roles", "TASKS_jobs", "KV_ledger", "OBJ_TASKS_jobs"}

// subscribing lists what can be listened to.
var subscribing = []rule{
	{"_INBOX_a.>", "a"},
	{"_INBOX_b.>", "b"},
	{"_INBOX_w.x", "w"},
	{"_INBOX_s.x", "s"},
	{"_INBOX_k.x", "k"},
	{"_INBOX_o.x", "o"},
	{"_INBOX_pg.x", "pg"},
	{"_INBOX_g.x", "g"},
	{"_INBOX_op.x", "op"},
	{"_INBOX_f.x", "f"},
	{"_INBOX_r.x", "r"},
	{"_INBOX.>", ""},
	{"$ROLES.roles.id.ctl.a", "a"},
	{"$ROLES.roles.id.ctl.b", "b"},
	{"$ROLES.roles.id.ctl.*", ""},
	{"$ROLES.roles.id.ready.a", "a"},
	{"$ROLES.roles.id.ready.b", "b"},
	{"$ROLES.>", ""},
	{"$KV.roles.>", ""},
	{"$KV.roles.c.role.scheduler", ""},
	{"$KV.ledger.>", ""},
	{"$TASKS.jobs.id.report.>", "a"},
	{"$TASKS.jobs.id.report.w", "a"},
	{"$TASKS.jobs.id.ctl", "a"},
	{"$TASKS.jobs.id.work.assign.w", "w"},
	{"$TASKS.jobs.id.work.cancel.w", "w"},
	{"$TASKS.jobs.id.work.sync.w", "w"},
	{"$TASKS.jobs.id.work.assign.a", "a"},
	{"$TASKS.jobs.id.work.*.v", ""},
	{"$TASKS.jobs.id.work.>", ""},
	{"$TASKS.jobs.id.done.>", "a s k pg"},
	{"$TASKS.jobs.id.done.task", "a s k pg"},
	{"$TASKS.jobs.id.event.task", "s"},
	{"$TASKS.jobs.id.event.>", "s"},
	{"$KV.TASKS_jobs.q.>", ""},
	{"$KV.TASKS_jobs.t.>", ""},
	{"$KV.TASKS_jobs.seal", ""},
	{"jobs.>", ""},
	{"$JS.API.>", ""},
	{"$JS.EVENT.>", ""},
	{"$JS.FC.>", ""},
	{"$JS.ACK.>", ""},
	{"$SYS.>", ""},
	{">", ""},
	{"*", ""},
}
