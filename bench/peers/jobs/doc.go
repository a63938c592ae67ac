// Package jobs is what the peers are put through, one after the other and all in the same way.
//
// Elections (TTL 4 s, the shortest that all of them take; crash and frozen also with 1 s, where a
// peer takes that):
//
//	rest        N roles that are led, and nothing happens      messages, processor time, goroutines, memory
//	crash       the leader's process is killed                 from SIGKILL until another process's work begins
//	handover    the leader gives the role up gracefully        from the end of its work until another's begins: below 0,
//	                                                           both were at work
//	frozen      the leader's link holds every byte for 3 TTL   how long both worked, and both believed: below 0 is the
//	                                                           margin
//	mass        the leader of N roles is killed                from SIGKILL to the first and the last of the promotions
//	herd        of 100 candidates the leader goes              writes of the role until another leads, above those at
//	                                                           rest
//
// Tasks (three worker processes, one submitter; not synced and synced stores, and three synced
// servers where the peer can have them):
//
//	throughput  no-op tasks, as many as possible at once       tasks a second from the first submission to the last
//	                                                           stored end
//	latency     one no-op task at a time, nothing else to do   from submission until its handler begins
//	rerun       a worker that holds tasks is killed            from SIGKILL until each of its tasks begins elsewhere
//	late        a worker is paused, its task begins elsewhere, whose result is stored
//	            the worker continues and returns first
//
// Nothing else runs meanwhile. Each sample is a row. A step that did not happen in time is a row
// too, with the time that was waited and a note.
package jobs
