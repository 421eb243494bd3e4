package understand

// symbol is a word of the forms, as a pattern in each language. "" where a language has none.
type symbol struct{ name, en, de, pt string }

// symbols are the vocabulary of the forms. Accents may be left out of what the patterns fit.
func symbols() []symbol {
	return []symbol{
		{"ADD", `add|create|jot down|write down|note down`, `erstelle?|notiere?`, `adiciona|adicione|adicionar|acrescenta|acrescente|cria|crie|anota|anote`},
		{"MAKE", `make|insert`, `mache?`, `faz|insere|insira`},
		{"PUT", `put|stick|place|write|take`, `füge?|setze?|schreibe?|packe?`, `põe|ponha|coloca|coloque|mete|bota`},
		{"REMIND", `remind me(?: to| about| of| that i have to| that)?|don't let me forget(?: to)?|don't forget to`,
			`erinner(?:e)? mich(?: bitte)?(?: daran| dran)?,?(?: an| dass)?`, `(?:lembra|lembre|recorda)-me(?: de| que)?|me (?:lembra|lembre)(?: de| que)?`},
		{"LOOK", `show(?: me)?|display|read`, `zeige?(?: mir)?`, `mostra(?:-me)?|mostre(?:-me)?|me mostr[ae]`},
		{"ASK", `what(?:'s| is| are)`, `was ist|wie lautet`, `qual é|o que é`},
		{"SHOW", `show|list|display|view|see|read|give|tell|what(?:'s|s)?|which|how many|do i|have i`, `zeige?|liste?|nenne?|was|welche[srn]?|wie viele|habe? ich`,
			`mostra|mostre|mostrar|lista|liste|listar|ver|vê|me mostr[ae]|mostra-me|mostre-me|o que|que|quais|qual|quantas`},
		{"FIND", `find|search(?: for)?`, `suche?(?: nach)?|finde?`, `procura|procure|busca|busque|encontra|encontre`},
		{"RENAME", `rename|retitle`, `benenne?|nenne?`, `renomeia|renomeie|renomear`},
		{"SET", `set`, `setze?`, `põe|define`},
		{"CHANGE", `change|update|edit|modify|rephrase|correct|replace`, `ändere?|ersetze?|bearbeite?`,
			`altera|altere|muda|mude|edita|edite|atualiza|atualize|troca|troque|modifica|modifique`},
		{"REOPEN", `reopen|re-open|uncheck|untick|uncomplete|restore`, `öffne|reaktiviere?`, `reabre|reabra|desmarca|desmarque`},
		{"MARK", `mark|set|make|check|tick`, `markiere?|setze?`, `marca|marque|marcar|põe|dá|dê`},
		{"CHECK", `check|tick|cross|strike`, `hake?|streiche?`, `risca|risque`},
		{"COMPLETE", `complete|completed|finish|finished|done|done with|close|check off|tick off|cross off|✅|✔️?|i'?(?:m| am|ve| have)? (?:just |already |now )*(?:done|finished|completed)(?: with)?`,
			`erledig(?:e|t)?|schließe?`,
			`conclui|conclua|concluir|completa|complete|completar|termina|termine|finaliza|finalize|já (?:fiz|concluí|completei|terminei)|concluí|completei|terminei`},
		{"DELETE", `delete|remove|clear|del|erase|drop|get rid of|throw away`,
			`lösche?|entferne?|streiche?|wirf`, `apaga|apague|apagar|remove|remova|remover|exclui|exclua|excluir|elimina|elimine|deleta|delete|tira|tire`},
		// verbs behind what they are for
		{"OFF", `off`, `ab|durch|aus`, ``},
		{"OVER", ``, `um`, ``},
		{"TOADD", ``, `hinzufügen|anlegen|erstellen|notieren|aufschreiben|(?:auf (?:die|meine) liste|dazu) ?(?:setzen|schreiben)`, ``},
		{"TOCOMPLETE", ``, `erledigen|abhaken|abschließen`, ``},
		{"TODELETE", ``, `löschen|entfernen|streichen`, ``},
		// what they are about
		{"ONE", `an?|the|another|one more|my`, `eine?|die|den|noch eine?`, `uma|um|a|mais uma`},
		{"NEW", `(?:an? |the |another |one )?new`, `(?:eine? |die |noch eine? )?neue[rn]?`, `(?:uma |a )?nova|(?:um |o )?novo`},
		{"TASK", `task|to-?do|item|reminder|entry|todo item|to-?do item`, `aufgabe|erinnerung|eintrag|punkt|todo`, `tarefa|lembrete|item`},
		{"MANY", `(?:these |the following |two |three |some |\d+ )?(?:tasks|to-?dos|items|reminders|entries)|these|the following`,
			`(?:diese |folgende |zwei |drei |\d+ )?(?:aufgaben|einträge|punkte)|folgendes`, `(?:as |estas |as seguintes |duas |três |\d+ )?(?:tarefas|lembretes|itens)`},
		{"CALLED", `to|called|named|titled|saying|for me to|:|-`, `namens|mit dem (?:titel|namen)|:|-`, `chamada|com o (?:nome|título)|para|de|:|-`},
		{"ONTO", `(?:to|on|onto) (?:my |the )?(?:to-?do )?(?:list|tasks)`, `hinzu|dazu|(?:auf|zu|in) (?:meine[rn]?|die|der) (?:aufgaben|to-?do-)?(?:liste|aufgaben)(?: hinzu)?`,
			`(?:à|na|para a|às|nas) (?:minhas? )?(?:lista|tarefas)(?: de tarefas)?`},
		{"FROMLIST", `(?:from|off) (?:my|the) (?:to-?do )?(?:list|tasks)`, `(?:von|aus) (?:meiner|der) liste|raus`, `da (?:minha )?lista`},
		{"NAMEOF", `(?:the )?(?:title|name|wording) of`, `den (?:titel|namen) (?:von|der)`, `o (?:nome|título) (?:de|da|do)`},
		{"NOTE", `(?:an? |the )?(?:description|notes?|details?)`, `(?:eine? |die |den )?(?:beschreibung|notiz|details)`, `(?:uma |a |as )?(?:descrição|nota|notas)`},
		{"OF", `of|for|on|to|from`, `von|für|zu|bei|der`, `da|de|do|para|à`},
		{"WITH", `with`, `mit`, `com`},
		{"TO", `to|into|:|->|→`, `in|zu|auf|durch|:|->|→`, `para|por|em|:|->|→`},
		{"ABOUT", `about|with|for|containing|mentioning`, `zu|mit|über|zum|zur`, `sobre|com|da|do`},
		{"BE", `(?:is|are|has been|have been|was|were|'s)(?: (?:now|all|already|both))*`, `(?:ist|sind|wurde|wurden)(?: (?:jetzt|nun|schon|bereits|beide|alle))*`, `(?:já )?(?:está|estão|foi|foram|fica)(?: (?:já|agora|todas|ambas))*`},
		{"AS", `as`, `als|auf`, `como|por`},
		{"DONE", `done|complete|completed|finished|ticked off`, `erledigt|fertig|abgehakt|abgeschlossen|gemacht`, `feit[ao]s?|concluíd[ao]s?|completad[ao]s?|completa|pront[ao]s?|terminad[ao]s?`},
		{"UNDONE", `(?:open|undone|not done|pending|incomplete|todo|to do|unfinished|not completed)(?: again)?`, `(?:wieder )?(?:offen|unerledigt|nicht erledigt)`, `pendente|aberta|por fazer|não feita|não concluída`},
		{"HAVE", ``, `ich habe?|hab`, ``},
		// lists
		{"MINE", `me|my|the|all|all my|all the|all of my|our|any`, `mir|meine|die|alle|alle meine|mal|bitte`, `me|minhas|as|as minhas|todas as|todas as minhas|todas`},
		{"TASKS", `tasks?|to-?dos?|to-?do list|task list|list|items|reminders`, `aufgaben|aufgabenliste|to-?dos|to-?do-liste|liste|punkte`, `tarefas|lista|lista de tarefas|afazeres|pendências`},
		{"OPENKEY", `open|pending|left|remaining|unfinished|to do|due|to be done`, `offen|offene|offenen|übrig|zu tun|erledigen|tun|ansteht|steht (?:noch |heute )?an|fehlt`, `pendentes?|aberta?s?|falta|faltam|fazer|por fazer|resta|restam`},
		{"DONEKEY", `completed?|done|finished?|ticked off`, `erledigt|erledigten?|fertig|fertigen?|geschafft|abgehakt`, `concluíd[ao]s?|feit[ao]s?|completad[ao]s?|terminad[ao]s?|fiz|concluí|completei|terminei|pront[ao]s?`},
		{"ALLKEY", `everything`, `alles`, `tudo`},
		{"HOLD", `me|my|the|all|of|any|on|in|up|is|are|was|were|be|it|that|there|which|what(?:'s|s)?|have|has|had|got|do|did|i|i've|we|still|already|so far|now|again|today|and|or|to|need|must|both|been|first|please|tomorrow|this week`,
			`mir|mal|bitte|meine[rn]?|die|der|den|das|alle|auf|steht|stehen|ist|sind|habe?|hast|ich|noch|schon|bereits|muss|zu|was|welche|an|es|da|heute|morgen|und|wieder|jetzt|erst|nochmal|noch mal|alles|drauf|gibt`,
			`me|as|a|o|os|minhas?|na|da|de|todas|lá|está|estão|que|tenho|tem|ainda|já|eu|para|são|há|e|agora|hoje|amanhã|pra|eu ainda|por`},
		{"WHEN", `due|overdue|today|tonight|tomorrow|(?:this|next) week`, `fällig|heute|morgen|(?:diese|nächste) woche`, `vencem?|hoje|amanhã|(?:esta|essa|na próxima) semana`},
		{"UNDO", `undo(?: (?:that|it|this|the last (?:change|one|thing)|my last change))?|take (?:that|it) back`,
			`(?:mach|nimm) (?:das|es|die letzte änderung) (?:wieder )?(?:rückgängig|zurück)|rückgängig(?: machen)?`,
			`desfaz(?:er)?(?: isso| a última (?:alteração|mudança))?|desfaça(?: isso)?|anula(?: isso)?`},
		{"HELP", `help(?: me)?|what can (?:you|i) (?:do|say)(?: here)?|how does this work|commands`, `hilfe|hilf mir|was kannst du(?: alles)?(?: tun)?|wie funktioniert das|befehle`,
			`ajuda|ajuda-me|me ajuda|o que (?:podes|pode|você pode|sabes) fazer|como (?:isso |isto )?funciona|comandos`},
		// what counts for nothing around a command
		{"LEAD", `please|pls|kindly|um+|uh+|er|so|ok|okay|alright|all right|well|hey|hi|hello|good (?:morning|afternoon|evening)|hi there|hello there|now|and|also|then|next|oh|actually|just|yes,|no,|` +
			`thanks|thank you|go ahead and`,
			`bitte|und|auch|dann|jetzt|nun|noch|also|ok|okay|gut|hallo|hi|hey|guten (?:morgen|tag|abend)|ja,|nein,|mal|ähm?|danke|doch|stattdessen`,
			`por favor|e|também|agora|depois|então|ok|olá|oi|bom dia|boa (?:tarde|noite)|sim,|não,|pronto|ahm|bem|obrigad[ao]`},
		{"POLITE", `can you|could you|would you|will you|i'd like you to|i want you to|i would like you to`,
			`kannst du(?: mir)?|könntest du(?: mir)?|würdest du(?: mir)?|magst du|könnten sie|können sie`, `podes|pode|podias|poderia|você pode|pode por favor`},
		{"TAIL", `please|thanks|thank you|thanks a lot|pls`, `bitte|danke|vielen dank`, `por favor|obrigad[ao]|se faz favor`},
		{"EXTRA", `now|too|also|again|for me|as well|instead|right away|today|please|all`, `auch|jetzt|noch|wieder|mal|heute|bitte|alle`, `também|agora|de novo|hoje|por favor`},
		{"FOLLOW", `and|also|now|then|next|too|as well`, `und|auch|jetzt|dann|nun|noch`, `e|também|agora|depois`},
		{"FILL", `please|just|also`, `bitte|mal|noch|auch|doch|mir|dann|jetzt`, `também|por favor|lá|agora`},
	}
}

// With these words in how tasks are named, nothing is asked for: negations, conditions, reports; and corrections, also in a title.
const (
	denials = `not|never|nothing|none|\pL+n't|cannot|if|unless|when|whether|said|says|nichts?|kein\pL*|nie|niemals|nein|wenn|falls|ob|sagte?|gesagt|` +
		`não|nunca|nenhum\pL*|nada|se|caso|quando|disse`
	corrections = `no,? wait|wait,? no|actually,? no|sorry,? i meant?|i meant?|scratch that|nein,? warte|ich meine|ich meinte|não,? espera|quero dizer`
)
