package behaviour_test

// reports are of models that know the signals, and use them in their own way.
func reports() []behaviour {
	read := []string{"code_read"}
	stuck := isStuck("the index is on a disk that is not mounted", "mount the disk of the index")
	return []behaviour{
		{name: "reads, answers, and says that it has enough", ask: auth, plays: plays(turn(reads(middleware), goesOn("open it")), turn(says(jwt), done())), plain: 2,
			ours: exactly(2), stop: "satisfied", holds: []string{jwt}, ran: read, signal: "context_sufficient", wires: true},
		{name: "has enough for thanks", ask: thanks, plays: plays(turn(says("You're welcome!"), done())), plain: 1, ours: exactly(1), stop: "satisfied",
			holds: []string{"You're welcome!"}},
		{name: "claims sources, with nothing opened", ask: auth, plays: plays(turn(says(guess), says(signal("context_sufficient", "sources_found", "3", "confidence", "0.9")))),
			plain: 1, ours: exactly(2), stop: "partial", holds: []string{guess}, warns: []string{unread}, told: `(?i)code`, wires: true},
		{name: "claims sources, with hits alone", ask: auth, plays: plays(searches("auth middleware token"), turn(says(guess), done())), plain: 2, ours: exactly(3),
			stop: "partial", holds: []string{guess}, warns: []string{unread}, ran: []string{"code_search"}},
		{name: "claims sources, after four searches that find nothing", ask: auth, plain: 5, ours: exactly(6), stop: "partial", holds: []string{guess}, warns: []string{unread},
			plays: plays(searches("kerberos"), searches("saml"), searches("ldap"), searches("radius"), turn(says(guess), done())),
			ran:   []string{"code_search", "code_search", "code_search", "code_search"}},
		{name: "claims sources, and opens one when it is told", ask: auth, plays: plays(turn(says(guess), done()), reads(middleware), turn(says(jwt), done())), plain: 1,
			ours: exactly(3), stop: "satisfied", holds: []string{jwt}, ran: read},

		{name: "gives a whole answer with need_turn, then says that it is given above", ask: auth, plain: 2, ours: exactly(3), stop: "satisfied", holds: []string{jwt},
			plays: plays(reads(middleware), turn(says(jwt), goesOn("say more")), says("The answer is already given above.")), lacks: []string{"already"}, ran: read, wires: true},
		{name: "gives a whole answer with need_turn, then says so with enough", ask: auth, plain: 2, ours: exactly(3), stop: "satisfied", holds: []string{jwt},
			plays: plays(reads(middleware), turn(says(jwt), goesOn("say more")), turn(says(above), done())), lacks: []string{above}, ran: read},
		{name: "gives a whole answer with need_turn, then a signal alone", ask: auth, plain: 2, ours: exactly(3), stop: "satisfied", holds: []string{jwt},
			plays: plays(reads(middleware), turn(says(jwt), goesOn("say more")), done()), ran: read},
		{name: "gives a whole answer with need_turn, again and again", ask: auth, plays: plays(reads(middleware), turn(says(jwt), goesOn("say more"))), plain: 2,
			ours: exactly(3), stop: "satisfied", holds: []string{jwt}, ran: read},
		{name: "goes on with need_turn and no call, then reads and answers", ask: auth, plain: 1, ours: exactly(3), stop: "satisfied", holds: []string{jwt}, ran: read,
			plays: plays(turn(says("I know where to look."), goesOn("open the middleware")), reads(middleware), turn(says(jwt), done()))},
		{name: "goes on after an answer, and finds more", ask: auth, plain: 2, ours: exactly(4), stop: "satisfied", ran: []string{"code_read", "code_read"},
			plays: plays(reads(middleware), turn(says(jwt), goesOn("see what Verify does")), reads(token), turn(says("Verify checks signature and expiry (`auth/token.go:4`)."), done())),
			holds: []string{"auth/token.go:4"}},
		{name: "announces with need_turn for ever", ask: auth, plays: plays(turn(says("Let me look at the middleware first."), goesOn("look"))), plain: 1, ours: between(2, 3),
			stop: "partial", warns: []string{unread}},
		{name: "ends with two signals, need_turn first", ask: auth, plays: plays(reads(middleware), turn(says(jwt), goesOn("say more"), done())), plain: 2, ours: exactly(3),
			stop: "satisfied", holds: []string{jwt}, ran: read},

		{name: "gives a whole answer with stuck", ask: auth, plain: 2, ours: between(2, 3), stop: "partial", holds: []string{jwt}, ran: read,
			plays: plays(reads(middleware), turn(says(jwt), isStuck("the tests are not in this folder", "name their folder"))),
			warns: []string{"the tests are not in this folder", "name their folder"}},
		{name: "is stuck for ever, and names the blocker", ask: auth, plays: plays(stuck), plain: 1, ours: between(2, 3), stop: "stuck",
			warns: []string{"disk that is not mounted", "mount the disk"}},
		{name: "is stuck, and answers when it may look elsewhere", ask: auth, plays: plays(stuck, readsNote("caching.md"), turn(says(decided), done())), plain: 1, ours: exactly(3),
			stop: "satisfied", holds: []string{decided}, ran: []string{"vault_read"}},

		{name: "answers a part", ask: auth, plays: plays(reads(middleware), turn(says(jwt), lacksPart("how a key is changed", "Keys were not looked at."))), plain: 2, ours: exactly(2),
			stop: "partial", holds: []string{jwt}, warns: []string{"Keys were not looked at"}, ran: read},
		{name: "recommends to delegate the rest", ask: auth, plays: plays(reads(middleware), turn(says(jwt), delegates("all handlers"))), plain: 2, ours: exactly(2),
			stop: "satisfied", holds: []string{jwt}, warns: []string{"(?i)delegating.*all handlers"}, ran: read},

		{name: "has read, and is not sure", ask: auth, plays: plays(reads(middleware), turn(says(jwt), says(sufficient("0.1")))), plain: 2, ours: exactly(2), stop: "satisfied",
			holds: []string{jwt}, ran: read, signal: "context_sufficient"},
		{name: "has not read, and is not sure", ask: auth, plays: plays(turn(says(guess), says(sufficient("0.1")))), plain: 1, ours: exactly(2), stop: "partial",
			holds: []string{guess}, warns: []string{unread}},
		{name: "has read, and writes a confidence that is none", ask: auth, plays: plays(reads(middleware), turn(says(jwt), says(sufficient("high")))), plain: 2, ours: exactly(2),
			stop: "satisfied", holds: []string{jwt}, ran: read},
		{name: "has read, and leaves sources_found out", ask: auth, plays: plays(reads(middleware), turn(says(jwt), says(signal("context_sufficient", "confidence", "0.9")))), plain: 2,
			ours: exactly(2), stop: "satisfied", holds: []string{jwt}, ran: read},
		{name: "has not read, and writes a confidence that is none", ask: auth, plays: plays(turn(says(guess), says(sufficient("high")))), plain: 1, ours: exactly(2),
			stop: "partial", holds: []string{guess}, warns: []string{unread}},
		{name: "has not read, and leaves sources_found out", ask: auth, plays: plays(turn(says(guess), says(signal("context_sufficient", "confidence", "0.9")))), plain: 1,
			ours: exactly(2), stop: "partial", holds: []string{guess}, warns: []string{unread}},
		{name: "has read, and writes a signal of its own", ask: auth, plays: plays(reads(middleware), turn(says(jwt), says(signal("done", "confidence", "0.9")))), plain: 2,
			ours: exactly(2), stop: "satisfied", holds: []string{jwt}, ran: read},
	}
}
