package understand

import "strings"

// Verbs that are split, with their particles.
const (
	germanCreate = `füg:hinzu,dazu,ein,an leg:an schreib:auf,dazu,drauf,rein,nieder,hin,hinzu trag:ein,nach nimm/nehm:auf,dazu,hinzu setz:drauf,dazu,hinzu,rein
		pack:drauf,dazu,rein tu:drauf,dazu,rein mach:drauf,dazu häng:an,dran stell:ein,rein bring:drauf`
	germanDelete = `wirf/werf:raus,weg,heraus schmeiß:raus,weg nimm/nehm:raus,runter,heraus,herunter,weg mach:weg,raus hau:raus,weg streich:raus,weg,heraus
		tu:raus,weg,runter räum:weg schaff:weg kick:raus hol:runter,raus kratz:runter lösch:raus,weg`
	germanComplete = `hak:ab streich:durch,ab stell:fertig mach:fertig kreuz:ab,an`
	germanFinish   = `schließ:ab`
	germanRename   = `benenn:um nenn:um formulier:um tauf:um`
	germanList     = `zeig:an list:auf lies/les:vor ruf:auf,ab zähl:auf`
	germanUndo     = `mach:rückgängig nimm/nehm:zurück stell:wieder_her hol:zurück,wieder_her,wieder_zurück`
)

func german() language {
	return language{
		code:    "de",
		endings: "e en er es em",
		core:    "aufgabe aufgaben liste eintrag einträge bitte",
		last:    true,
		classes: map[class]string{
			vRemind: `erinnere_mich_daran erinner_mich_daran erinnere_mich_dran erinner_mich_dran erinnere_mich_an erinner_mich_an erinnere_mich:1
			erinner_mich:1 erinnern_sie_mich:1 mich_daran_erinnern mich_dran_erinnern mich_erinnern:1
			vergiss_nicht nicht_vergessen nicht_zu_vergessen lass_mich_nicht_vergessen denk_dran denk_daran denk_an denke_daran denke_dran denke_an
			merk_dir merke_dir merken_sie_sich merk_mir notier_dir notiere_dir nicht_vergessen_darf_ich
			ich_darf_nicht_vergessen ich_muss_dran_denken ich_muss_daran_denken wir_dürfen_nicht_vergessen notiz_an_mich sorg_dafür_dass_ich erinnere_mich_dass:1 erinnern_mich:1 erinnern_mich_daran erinnern_mich_an ich_will_nicht_vergessen ich_möchte_nicht_vergessen
			nicht_vergessen_dass_ich denk_daran_dass_ich denk_dran_dass_ich denke_daran_dass_ich merk_dir_dass_ich vergiss_nicht_dass_ich
			lass_mich_dran_denken lass_mich_daran_denken`,
			vNeed: `ich_muss ich_müsste ich_sollte ich_soll ich_muss_noch ich_muss_unbedingt ich_muss_auch ich_muss_auch_noch ich_sollte_noch
			ich_sollte_mal ich_müsste_mal ich_müsste_noch wir_müssen wir_müssen_noch wir_sollten muss_noch muss ich_brauche:1 ich_brauche_noch:1
			brauche:1 brauche_noch:1
			ich_darf ich_werde ich_hab_noch_zu ich_habe_noch_zu ich_habe_vor muss_ich_noch:2 müsste_noch sollte_noch außerdem_muss_ich dann_muss_ich
			auch_muss_ich ich_plane ich_gedenke wir_müssten ich_müsste_unbedingt wir_müssten_mal muss_dringend ich_muss_dringend ich_soll_noch ich_bräuchte:1 ich_bräuchte_noch:1`,
			vCreate: `hinzufügen hinzuzufügen ergänze ergänz ergänzen erstelle:1 erstell:1 erstellen:1 anlegen anzulegen notiere notier notieren
			aufschreiben aufzuschreiben eintragen einzutragen aufnehmen vermerke vermerken neue_aufgabe neuer_eintrag neuen_eintrag neues_todo
			neues_to-do neue_erinnerung weitere_aufgabe noch_eine_aufgabe aufgabe:2 todo:2 to-do:2 erinnerung:2 mach_eine_aufgabe mache_eine_aufgabe
			mach_mir_eine_aufgabe mach_eine_neue_aufgabe addiere adde eine_neue_aufgabe:2 eine_neue_erinnerung:2 einen_neuen_eintrag:2 mach_mir_eine_notiz mach_dir_eine_notiz mach_eine_notiz eine_weitere_aufgabe:2 erfass erfasse erfassen
			erstell_mir:1 leg_mir_eine_aufgabe_an` + " " + joinedVerbs(germanCreate),
			vPut: `setz setze setzen pack packe packen schreib schreibe schreiben tu tue tun stell stelle stellen leg lege legen nimm nehme
			nehmen streich streiche streichen wirf werfen mach mache bring hau kratz häng hänge hängen`,
			vDelete: `lösch lösche löschen löscht lösch_mir lösche_mir entfern entferne entfernen rauswerfen rausnehmen rausschmeißen wegmachen
			wegwerfen_von beseitige beseitigen zu_löschen zu_entfernen delete löschst weg_mit raus_mit fort_mit` + " " + joinedVerbs(germanDelete),
			vDeleteWeak: `streich streiche streichen verwirf verwerfe verwerfen storniere stornieren leere leeren eliminiere eliminieren tilge tilgen
			räum räume vernichte lass_verschwinden kill kille killen aufräumen`,
			vComplete: `erledige erledig abhaken abzuhaken fertigstellen fertigzustellen` + " " + joinedVerbs(germanComplete),
			vCompleteWeak: `erledigen zu_erledigen beende beenden abschließen abzuschließen vollende vollenden schließe schließ schließen durchstreichen
			komplettiere` + " " + joinedVerbs(germanFinish),
			vUpdate: `aktualisiere aktualisier aktualisieren bearbeite bearbeit bearbeiten editiere editieren überarbeite überarbeiten`,
			vUpdateWeak: `ändere:1 änder:1 ändern:1 ändre:1 verändere korrigiere korrigier korrigieren verbessere verbessern ersetze ersetz ersetzen
			tausche tausch mach mache setz setze stell stelle nenne:2 nenn:2 pass passe erweitere ergänze ergänz gib gebt geben mach_aus:2 mache_aus:2 machen_aus:2`,
			vRename: `umbenennen umzubenennen umformulieren` + " " + joinedVerbs(germanRename),
			vMove:   `verschieb verschiebe verschieben vertage vertagen verleg verlege verlegen aufschieben schieb schiebe`,
			vReopen: `wiedereröffnen wieder_öffnen reaktiviere reaktivieren wieder_aufmachen wieder_aktivieren`,
			vMark: `markier markiere markieren kennzeichne kennzeichnen setz setze setzen stell stelle stellen mach mache machen ändere ändern hak
			hake aktualisiere`,
			vList: `zeig zeige zeigen anzeigen list liste listen auflisten nenn nenne nennen sag sage gib gib_mir zeig_mir zeige_mir lies vorlesen sehen
			anschauen ansehen anzusehen sag_mir nenn_mir sehe erzähl_mir
			liste_mir gib_mir_einen_überblick_über überblick_über schau präsentier präsentiere präsentieren öffne gib_mir_mal gib_mal übersicht_über gib_einen_überblick_über gib_mir_einen_überblick gib_einen_überblick übersicht überblick` + " " + joinedVerbs(germanList),
			vFind: `suche:1 such:1 suchen:1 finde:1 finden:1 such_nach suche_nach filtere filter durchsuche suche_mir`,
			vUndo: `rückgängig rückgängig_machen widerrufe widerruf zurücknehmen undo wiederherstellen mach_das_rückgängig mach_es_rückgängig
			mach_rückgängig stell_wieder_her hol_zurück` + " " + joinedVerbs(germanUndo),
			vGive: `gib gebt geben`,
			vErrand: `kauf kaufe ruf rufe bring bringe hol hole bezahl bezahle zahl zahle schick schicke schreib schreibe putz putze back backe koch koche
			mach mache bestell bestelle buch buche besuch besuche reparier repariere wasch wasche gieß gieße lern lerne lies plan plane prüf prüfe
			räum räume repariere sag sage frag frage treff triff vereinbar vereinbare organisier organisiere besorg besorge miete kümmere kündige tank
			tanke geh gehe fahr fahre überweis überweise`,
			fAsk: `kannst_du könntest_du würdest_du kannst_du_bitte könntest_du_bitte würdest_du_bitte magst_du willst_du können_sie könnten_sie
			würden_sie können_sie_bitte könnten_sie_bitte kannste kannst_du_mir könntest_du_mir sei_so_gut_und sei_so_lieb_und sei_so_nett_und
			wärst_du_so_nett
			du_kannst du_könntest du_sollst ich_möchte_dass_du ich_will_dass_du ich_hätte_gern_dass_du ich_bitte_dich tu_mir_den_gefallen_und
			es_wäre_nett_wenn_du kann_ich_dich_bitten du_darfst du_musst wäre_es_möglich kannst_du_mal könntest_du_mal könnt_ihr könntet_ihr würdet_ihr wollt_ihr mögt_ihr sollst_du solltest_du darfst_du musst_du ihr_könnt ihr_könntet ihr_dürft sie_dürfen
			wären_sie_so_nett wären_sie_so_freundlich wären_sie_so_lieb wärst_du_so_lieb wärst_du_so_gut wärst_du_so_freundlich wärst_du_bitte_so_nett
			wärst_du_bitte_so_lieb sei_so_nett sei_so_lieb sei_so_gut sei_bitte_so_nett seien_sie_so_gut_und seien_sie_so_nett_und seien_sie_so_nett seien_sie_so_freundlich
			seien_sie_so_gut hättest_du_lust hättest_du_die_güte macht_es_dir_was_aus macht_es_dir_etwas_aus würde_es_dir_was_ausmachen
			würde_es_dir_etwas_ausmachen wärst_du_so_nett_und wärst_du_so_lieb_und ich_bitte_sie ich_wäre_dir_dankbar_wenn_du`,
			fWish: `ich_möchte ich_will ich_würde_gerne ich_würde_gern ich_möchte_gerne ich_möchte_gern ich_hätte_gerne ich_hätte_gern ich_wollte
			ich_würde lass_uns lasst_uns wir_wollen wir_möchten möchte will ich_wünsche lass_mich`,
			fFiller: `bevor_ich_es_vergesse bevor_ich_das_vergesse bevor_ich's_vergesse bevor_ich_'s_vergesse ehe_ich_es_vergesse bitte mal doch eben kurz einfach noch dann also jetzt gleich ok okay so na danach anschließend außerdem zuerst zuletzt schließlich
			auch gern gerne hey hallo hi assistent sibyl übrigens schnell nun gerade halt ja_bitte zusätzlich ferner daneben aber wieder sofort
			bitteschön bitte_auch eigentlich nochmal zunächst weiterhin als_erstes als_nächstes tja ah oh naja lieber stattdessen bitte_einmal einmal grad rasch fix auch_noch ne_ja doch_bitte wirklich erst erstmal zuallererst dafür soeben`,
			fMe: `mir mich uns für_mich für_uns dir`,
			fGreet: `hallo hi hey guten_morgen guten_tag guten_abend gute_nacht moin servus grüß_dich grüß_gott tschüss tschüß ciao bis_später
			bis_morgen bis_bald auf_wiedersehen wie_geht's wie_geht_es_dir wie_gehts na schönen_tag schönen_tag_noch schönen_abend mahlzeit
			schönes_wochenende bis_dann bis_bald bis_gleich mach's_gut machs_gut grüezi grüß_euch schönen_feierabend feierabend schlaf_gut gute_nacht_dann
			man_sieht_sich adieu ade tschau pfiat_di guten_abend_noch bis_nachher habe_die_ehre`,
			fThanks: `danke danke_schön dankeschön vielen_dank danke_dir besten_dank danke_sehr merci gut_gemacht super_gemacht tausend_dank lieben_dank danke_dir das_war's das_wars das_war_es das_war_alles das_wäre_alles das_wär's das_wärs mehr_brauche_ich_nicht danke_schon`,
			fHedge: `vielleicht eventuell womöglich möglicherweise ich_glaube ich_denke wahrscheinlich vermutlich evtl weiß_nicht ich_weiß_nicht
			bin_nicht_sicher ich_frage_mich irgendwann keine_ahnung`,
			fReport: `sagte sagt gesagt meinte meint schrieb schreibt geschrieben fragte fragt gefragt erzählte erzählt bat behauptet behauptete dachte
			denkt rief will wollte möchte gemeint der_satz die_worte zitat`,
			fIf: `wenn falls ob sofern sobald bevor_ich was_wäre_wenn was_wenn was_passiert_wenn angenommen solange nachdem es_sei_denn`,
			fAsking: `könnte_ich könnten_wir was wie warum wann wo wer wen wem welche welcher welches welchen wieso weshalb wozu wohin woher wieviel wieviele wie_viele soll_ich
			sollte_ich sollen_wir kann_ich kann_man können_wir darf_ich darf_man muss_ich müssen_wir habe_ich hab_ich hast_du haben_wir gibt_es gibts
			gibt's hattest_du hatte_ich bist_du bin_ich sind_das ist_das ist_es ist_die ist_der ist_da sind_die sind_alle sind_noch wird_die
			werden_die wirst_du soll_die soll_das muss_die kann_die können_die kann_das hat_die was_ist wie_wäre_es willst_du_wissen lässt_sich
			lassen_sich wie_viel`,
			fAux:     `ist sind war waren hat habe haben wird werden kann können soll sollen darf dürfen muss müssen wurde wurden`,
			fSubject: `ich du er sie es wir ihr man das dies jemand niemand alle`,
			fPerfect: `ich_habe ich_hab hab habe ich_bin bin wir_haben habe_ich hab_ich bin_ich haben_wir ich_habe_schon ich_habe_gerade ich_hab_gerade
			ich_hab_schon ich_habe_eben ich_hab_eben ich_hab_jetzt wir_hatten hab_ich_grad ich_hatte ich_hab_'s hab_'s ich_hab's hab's wir_haben_'s`,
			fTalk: `toll super cool klasse prima wow haha lustig interessant perfekt genial ausgezeichnet wunderbar schön gut schade sorry
			entschuldigung tut_mir_leid ups hmm hm oh aha ach echt krass geil kein_problem keine_sorge alles_gut gern_geschehen bitte_sehr wie_schön
			test mist mensch stimmt egal nett läuft spitze erzähl_mir_einen erzähl_einen macht_nichts mir_ist ich_bin_müde na_ja sing_mir spaß witzig ich_mag ich_liebe ich_hasse`,
			fBe: `ist sind war waren bin bist hat hatte liebe liebst mag magst finde findest weiß glaube denke fühle geht ging regnet scheint heißt
			heiße schmeckt wohne wohnt wird wurde wäre hätte kann_nicht tut gefällt nervt freut funktioniert`,
			fStative: `stand standen lag lagen gewesen gehabt geliebt gedacht gewusst gewollt gehasst vergessen geschlafen gesehen gehört gefühlt gelöscht hinzugefügt gesagt
			gefragt geträumt verloren gelacht geweint gewartet gehofft geglaubt versucht beschlossen angefangen verstanden gemeint gefreut geändert
			umbenannt entfernt erstellt`,
			fUhm:     `ähm äh öh öhm ehm ähh`,
			fAskIf:   `wenn_du_könntest wenn_du_kannst wenn_du_magst wenn_du_würdest wenn_sie_könnten wenn_sie_würden`,
			fClausal: `prüf prüfe überprüf überprüfe schau frag frage hoffe warte sag sage prüfen überprüfen schauen fragen`,
			fHelp: `hilfe hilf_mir was_kannst_du was_kann_ich_tun was_kann_ich_sagen was_kannst_du_tun was_kannst_du_alles wer_bist_du was_bist_du
			wie_funktioniert_das wie_funktioniert wie_geht_das wie_kann_ich wie_kann_man wie_lösche_ich wie_mache_ich wie_füge_ich wie_erledige_ich
			wie_ändere_ich wie_hake_ich wie_markiere_ich wie_erstelle_ich befehle anleitung ich_brauche_hilfe wie_benenne_ich wie_lege_ich
			kannst_du_mir_helfen wie_soll_ich wie_löscht_man wie_macht_man`,
			fAgain: `ich_meine ich_meinte ich_meinte_eigentlich sondern besser_gesagt nein_warte warte moment quatsch sorry korrektur vielmehr stopp
			halt ach_nein doch_lieber lieber eigentlich`,

			fMeant: `ich_meinte ich_hatte_gemeint gemeint_war ich_meinte_eigentlich gemeint_hatte_ich meinte_ich ich_habe_gemeint ich_hab_gemeint
			ich_sprach_von ich_dachte_an es_sollte_sein das_sollte_sein`,
			fToo: `auch ebenfalls genauso ebenso dasselbe_mit dasselbe_für das_gleiche_mit das_gleiche_für desgleichen gleichfalls was_ist_mit:1
			und_auch auch_noch genauso_mit das_selbe_mit`,
			fClosing: `für_heute für_jetzt für_den_moment damit hiermit mit_allem für_diese_woche mit_der_arbeit heute erstmal erst_mal`,
			fCould:   `kannst könntest könnt könntet können könnten würdest würdet würden willst sollst solltest darfst dürft dürfen magst musst`,

			yStrong: `ja jo jup jap jawohl joa klar sicher natürlich mach_das mach_es tu_das tu_es mach_mal auf_jeden_fall unbedingt genau richtig stimmt
			bestätige bestätigt ich_bestätige ja_bitte gerne gern_ja selbstverständlich absolut los nur_zu jawoll jaja in_der_tat ganz_sicher
			einverstanden korrekt bin_mir_sicher ich_bin_sicher ich_bin_mir_sicher ja_genau na_klar aber_ja aber_sicher 👍 ✅ 👌 ✔ 🆗 jep jepp joah yep yo jop gern gern_doch sehr_gern aber_gerne klar_doch sicher_doch weg_damit raus_damit kann_weg hau_weg tun_sie_das machen_sie_das tun_sie_es machen_sie_es immer_doch logo logisch hundertprozentig hundert_prozent`,
			yWeak: `ok okay gut in_ordnung passt alles_klar meinetwegen von_mir_aus prima schön super perfekt`,
			yNo: `nein nee nö ne nein_danke auf_keinen_fall keinesfalls niemals lieber_nicht besser_nicht bloß_nicht bitte_nicht doch_nicht nicht
			ganz_sicher_nicht natürlich_nicht nicht_machen mach_das_nicht tu_das_nicht mach_es_nicht nichts_da 👎 ❌ ✖ 🚫 auf_gar_keinen_fall in_keinem_fall unter_keinen_umständen das_war_ein_versehen war_ein_versehen ein_versehen die_brauche_ich_noch brauch_ich_noch brauche_ich_noch die_brauch_ich_noch den_brauch_ich_noch`,
			yCancel: `abbrechen abbruch brich_ab lass_es lass_das lass_mal lass_sein lass_es_sein lass_gut_sein lass_es_gut_sein vergiss_es vergiss_das
			stopp stop halt egal schon_gut nicht_jetzt jetzt_nicht noch_nicht heute_nicht warte moment hab's_mir_anders_überlegt
			ich_habe_es_mir_anders_überlegt ich_hab_es_mir_anders_überlegt ich_hab's_mir_anders_überlegt behalte_sie behalte_es behalten lass_sie
			lass_ihn lass_alles lass_stehen nichts lass`,
			yMaybe: `vielleicht eventuell aber wenn falls später ob weiß_nicht keine_ahnung glaube denke_schon ich_denke ich_glaube hm hmm fast
			nicht_sicher warum nachher erst soll wahrscheinlich vermutlich oder kommt_drauf_an mal_sehen jein`,
			yThat: `das es sie ihn die den dies bitte danke dann jetzt kannst_du du kannst darfst ich bin mir weg aufgabe diese diesen dieses so mal
			doch auch will möchte gern löschen mach tu ruhig endgültig wirklich sicher damit kann sie_das machen_sie tun_sie löschen_sie ihnen brauche_ich_nicht_mehr brauch_ich_nicht_mehr brauchen_wir_nicht_mehr kann_weg kann_raus`,

			yInsist: `wirklich ehrlich ganz_sicher sicher bestimmt auf_jeden_fall unbedingt endgültig ja_wirklich ja_sicher definitiv ganz_bestimmt
			ohne_zweifel ich_bin_sicher ich_bin_mir_sicher bin_sicher bin_mir_sicher im_ernst echt_jetzt komplett ganz vollständig für_immer`,

			rArticle: `der die das den dem des mein meine meinen meiner meinem meines dein deine deinen deiner unser unsere unseren unserer diese
			dieser dieses diesen diesem jene jenen welche die_ganze die_ganzen`,
			rIndefinite: `ein eine einen einer einem eines noch_ein noch_eine noch_einen einige:1 ein_paar:1 manche:1 mehrere:1 die_meisten:1 irgendeine:1`,
			rTask:       `aufgabe todo to-do eintrag punkt erinnerung task sache option position zeile ding`,
			rTasks: `aufgaben todos to-dos einträge einträgen punkte punkten erinnerungen tasks sachen dinge dingen optionen positionen zeilen
			folgendes folgende`,
			rList:     `liste listen aufgabenliste todoliste to-do-liste todo-liste einkaufsliste merkliste einkaufszettel zettel agenda`,
			rListKind: `ganze ganzen gesamte gesamten todo to-do aktuelle aktuellen komplette kompletten`,
			rOnes:     `davon`,
			rThese:    `diese jene`,
			rIt: `es das die den sie ihn diese dieses diesen diese_da das_da die_da den_da dies dasselbe dieselbe denselben das_ding sie_alle
			die_gleiche`,
			rAll:    `alle allen aller sämtliche sämtlichen jede jeden jedes`,
			rWhole:  `ganze ganzen gesamte gesamten komplette kompletten`,
			rEach:   `alles alle_davon alle_von_ihnen jede_einzelne sie_alle alles_davon`,
			rBoth:   `beide beiden alle_beide die_beiden die_zwei alle_zwei alle_drei:3 alle_vier:4 alle_fünf:5`,
			rExcept: `außer bis_auf ausgenommen mit_ausnahme_von mit_ausnahme aber_nicht nur_nicht ohne außer_der abgesehen_von nicht`,
			rNumber: `eins:1 zwei:2 drei:3 vier:4 fünf:5 sechs:6 sieben:7 acht:8 neun:9 zehn:10 elf:11 zwölf:12 dreizehn:13 vierzehn:14 fünfzehn:15
			sechzehn:16 siebzehn:17 achtzehn:18 neunzehn:19 zwanzig:20 beiden:2 zwo:2`,
			rOrdinal: `erst~:1 zweit~:2 dritt~:3 viert~:4 fünft~:5 sechst~:6 siebt~:7 siebent~:7 acht~:8 neunt~:9 zehnt~:10 elft~:11 zwölft~:12
			letzt~:-1 vorletzt~:-2 zweitletzt~:-2 drittletzt~:-3 vorvorletzt~:-3 oberst~:1 unterst~:-1 allerletzt~:-1 allererst~:1 ersterer:1 erstere:1 ersteres:1 ersteren:1 letzterer:-1 letztere:-1 letzteres:-1 letzteren:-1 ober~:1 unter~:-1 vorder~:1 hinter~:-1`,
			rNumeroSign: `nummer nr nummern num`,
			rOf:         `von vom in auf aus in_der auf_der`,
			rAnd:        `und & + sowie plus und_auch`,
			rOr:         `oder`,
			rThrough:    `bis bis_zu -`,
			rAbout: `mit über zu zum zur namens für bezüglich wegen betreffend mit_dem_titel mit_dem_namen mit_dem_namen_von um von vom in_der_es_um
			die_heißt bei an zum_thema rund_um was_mit die_mit das_mit in_denen in_der in_dem wo was_mit_dem bei hinter`,
			rNone:    `keine keines keiner keinen keine_davon keines_davon keinen_davon nichts_davon nichts gar_nichts nichts_mehr  weder_noch weder_das_eine_noch_das_andere`,
			rNot:     `nicht kein keine keinen keiner nie niemals nimmer`,
			rNew:     `neu~ weiter~ zusätzlich~ ander~`,
			rAnother: `ander~ rest nächst~ übrig~ ältest~ `,

			rMiddle: `mittler~ in_der_mitte mittig~ mittlerste`,
			rEnd:    `ganz_oben:1 oben:1 ganz_unten:-1 unten:-1 am_anfang:1 am_ende:-1 von_oben:1 von_unten:-1 von_hinten:-1 von_vorne:1 ganz_am_ende:-1`,
			rOnly:   `nur bloß lediglich`,
			rBeside: `vor:-1 direkt_vor:-1 über:-1 direkt_über:-1 oberhalb:-1 nach:1 direkt_nach:1 unter:1 direkt_unter:1 unterhalb:1 hinter:1`,
			rIts:    `ihr ihre ihren ihrem ihrer ihres sein seine seinen seinem seiner seines dessen deren`,

			tGoes:   `kommt kommen soll sollen gehört gehören muss sollte bitte_noch noch auch mit dazu`,
			tTick:   `haken häkchen hakerl häkli`,
			tCalled: `soll_heißen heißt_jetzt heißt_ab_jetzt heißt_nun soll_jetzt_heißen soll_so_heißen heißt_ab_sofort soll_lauten umbenennen_in umbenennen_zu`,
			tTail:   `zu_tun_hat zu_tun_haben vorkommt vorkommen geht aufgeschrieben notiert steht zu_tun eingetragen enthalten`,
			tOnto:   `auf_die auf_meine auf_unsere auf_den auf_meinen auf_deine in_die in_meine auf_eine`,
			tTo:     `zu zur zum auf in ins an unter`,
			tFrom:   `von vom aus runter_von`,
			tAs:     `als auf zu auf_den_status zurück_auf wieder_als wieder_auf`,
			tInto:   `in zu um_in nach auf als mit durch um_zu -> : = damit_steht`,
			tDone: `erledigt fertig abgehakt abgeschlossen gemacht geschafft done getan durch beendet erledigt~ fertig~ abgeschlossen~ abgehakt~
			vollständig~ vollendet vom_tisch aus_der_welt`,
			tUndone: `offen offen~ unerledigt unerledigt~ nicht_erledigt nicht_erledigt~ noch_nicht_erledigt nicht_fertig noch_nicht_fertig
			nicht_gemacht nicht_abgeschlossen~ ausstehend ausstehend~ unfertig pending noch_offen noch_offen~ zu_erledigend~ aktiv aktiv~
			nicht_abgehakt`,
			tStill: `noch übrig steht_an steht_noch_an stehen_an ansteht liegt_an zu_tun zu_erledigen muss_ich muss_ich_noch müssen_wir bleibt fehlt
			fehlt_noch als_nächstes offen offen~ noch_offen noch_zu_tun ausstehend~ nicht_erledigt unerledigt~ soll_ich_noch_machen fällig
			überfällig anstehen liegt_noch_an muss_erledigt_werden fehlen`,
			tNewest: `neueste neuesten neuestes neueste_zuerst neuesten_zuerst neueste_zuoberst zuletzt_hinzugefügt~ jüngste jüngsten absteigend neuste
			neusten die_neuesten_zuerst neuste_zuerst neueste_oben neuste_oben die_neuesten_oben neu_zuerst`,
			tDesc:  `beschreibung:1 notiz notizen details detail anmerkung kommentar bemerkung beschreibungen`,
			tTitle: `titel name namen text bezeichnung titels`,
			tWith:  `mit und inklusive`,
			tAnchor: `habe_ich hab_ich ich_habe heute morgen diese_woche nächste_woche steht_an liegt_an auf_dem_plan auf_dem_zettel auf_dem_programm
			haben_wir ich_noch ich_heute ich_morgen los geplant mein_tag dieses_wochenende am_wochenende ich_vor`,
			tInList: `habe hab haben hatte ist sind war gibt es ich wir mein meine was da mir bitte in auf der die das den dem heute morgen jetzt noch
			nächste woche monat wochenende tag tage für zu von alles alle an so steht stehen liegt zeig tun machen und bis sehen dürfen muss müssen
			soll ein eine einen montag dienstag mittwoch donnerstag freitag samstag sonntag erledigt fertig viele wie sag bis schon bereits denn
			eigentlich gerade überhaupt plan übersicht überblick anstehend~ ganz~ zuerst vor geplant bislang bisher sein los irgendwelche irgendwas
			etwas nur bloß lediglich alles_mögliche so wieviel sieht aus sieht's sehe kommt kommen mein~ unser~`,
			tInfTo: `daran dran daran_dass_ich dass_ich dass_wir daran_dass_wir an zu dran_dass_ich ans`,
			tThat:  `daran dran an dass_ich daran_dass_ich ans`,
			tPast: `erledigt abgehakt gemacht bezahlt besorgt repariert telefoniert beantwortet eingekauft abgegeben angerufen eingezahlt aufgeräumt
			abgeholt geputzt überwiesen`,
			tEnding: `bitte danke ok okay ja kannst_du_das geht_das wenn_möglich wenn_es_geht vielen_dank für_mich danke_dir ja_bitte wärst_du_so_nett
			gell oder`,
			tNoInf: `einen meinen deinen seinen keinen unseren ihren euren jeden diesen jenen allen beiden anderen gegen wegen neben zwischen morgen
			guten neuen alten großen kleinen besten nächsten letzten oben unten außen innen hinten vorn vorne gestern sieben ihnen denen deren wen
			dessen eben daneben zusammen euren einigen vielen wenigen ganzen eigenen ersten samten`,
			tZu:      `zu`,
			tBack:    `ihn es ihr ihm sie ihnen`,
			tSaying:  `dass lautet als auf in mit_dem_text`,
			tStatus:  `status zustand`,
			tThen:    `dann und_dann danach anschließend außerdem zusätzlich schließlich und_außerdem`,
			tChange:  `änderung letzte_änderung aktion schritt löschung letzten_schritt`,
			tPassive: `gelöscht erledigt hinzugefügt geändert entfernt umbenannt erstellt angelegt abgehakt bearbeitet löschen entfernen hinzufügen ändern gelöschte gelöschten gelöschtes entfernte entfernten`,
			tWhereIs: `wann_ist wo_ist gibt_es gibt_es_was gibt_es_etwas gibt_es_eine_aufgabe gibt_es_aufgaben habe_ich_etwas habe_ich_was
			habe_ich_eine_aufgabe hab_ich_was habe_ich hab_ich wann_muss_ich was_ist_mit wie_steht_es_um was_ist:2 ist_die:1 ist_der:1 ist_das:1
			sind_die:1 ist:1 steht steht_da steht_da_was steht_was was_steht_bei:2 was_steht_in:2 was_steht_unter:2`,
			tLink:      `ist sind war waren wurde wurden wird habe_ich hab_ich haben_wir bin`,
			tAlready:   `schon bereits jetzt endlich gerade nun heute gestern eben vorhin soeben mittlerweile inzwischen`,
			tInsteadOf: `stattdessen lieber`,
			tPick:      `nimm nehme ich_nehme wähle ich_meine ich_meinte ich_wähle ich_will es_ist das_ist die_mit der_mit das_mit ich_möchte ich_hätte_gern`,
			tItIs:      `das_ist es_ist ist das_wäre`,
			tShould:    `soll_sein soll_lauten sollte_sein muss_sein muss_lauten sollte_lauten`,
			tNeedless:  `ich_brauche_nicht_mehr ich_brauch_nicht_mehr wir_brauchen_nicht_mehr ich_benötige_nicht_mehr ich_will_nicht_mehr brauche_nicht_mehr`,
			tGone: `kann_weg können_weg kann_raus können_raus kann_runter kann_gelöscht_werden können_gelöscht_werden soll_weg soll_raus muss_weg muss_raus
			darf_weg darf_raus kann_gestrichen_werden kann_entfernt_werden können_entfernt_werden sollte_gelöscht_werden soll_gelöscht_werden
			brauche_ich_nicht_mehr brauch_ich_nicht_mehr brauchen_wir_nicht_mehr wird_nicht_mehr_gebraucht werden_nicht_mehr_gebraucht
			ist_nicht_mehr_nötig ist_überflüssig ist_hinfällig fällt_aus entfällt ist_abgesagt wurde_abgesagt ist_obsolet kann_jetzt_weg kann_auch_weg
			kann_wirklich_weg hat_sich_erübrigt ist_nicht_mehr_aktuell benötige_ich_nicht_mehr`,
			tTime: `für am bis um morgen heute nächste nächsten jeden in`,
			tLeads: `nenn_es nenne_es nenn_sie nenne_sie es_soll_heißen sie_soll_heißen soll_heißen der_neue_titel_ist der_titel_ist neuer_titel titel
			es_heißt`,
		},
		split: map[class]string{
			vRemind:       `mich…erinnern lass…nicht_vergessen`,
			vCreate:       splitVerbs(germanCreate) + ` füge…ein`,
			vDelete:       splitVerbs(germanDelete),
			vComplete:     splitVerbs(germanComplete),
			vCompleteWeak: splitVerbs(germanFinish),
			vUpdate:       splitVerbs(`änder:ab,um`),
			vRename:       splitVerbs(germanRename) + ` benenne…um`,
			vMove:         splitVerbs(`schieb:auf,raus zieh:vor verleg:vor`),
			vReopen:       splitVerbs(`öffn:wieder,erneut,nochmal mach:wieder_auf,nochmal_auf aktivier:wieder,erneut setz:wieder_offen`),
			vList:         splitVerbs(germanList),
			vUndo:         splitVerbs(germanUndo),
		},
		order: germanOrder,
		infinitive: func(t token, _ bool) bool {
			w := t.norm
			if participleGe(w) {
				return false
			}
			return t.kind == word && (len(w) >= 4 && (strings.HasSuffix(w, "en") || strings.HasSuffix(w, "ern") || strings.HasSuffix(w, "eln")) || w == "tun")
		},
		past:       participle,
		participle: participle,
	}
}

// participleGe says whether a German word has the form of a participle with ge: ge…t, ge…en, also behind a prefix. Infinitives of gehen, geben and
// the few that begin with ge are none.
func participleGe(w string) bool {
	if len(w) < 5 || !strings.HasSuffix(w, "t") && !strings.HasSuffix(w, "en") {
		return false
	}
	for _, stem := range strings.Fields("gehen geben gewinnen gestalten niessen gebrauchen gewohnen gelingen gelten gefallen genehmigen gen") {
		if strings.HasSuffix(w, stem) {
			return false
		}
	}
	for _, prefix := range append(strings.Fields("ab an auf aus ein mit nach vor weg zu her hin um durch weiter zuruck los raus rein fertig vorbei"), "") {
		if strings.HasPrefix(w, prefix+"ge") {
			return true
		}
	}
	return false
}

// participle says whether a German word has the form of a participle: with ge, be…t, ver…en, …iert.
func participle(w string) bool {
	if participleGe(w) || strings.HasSuffix(w, "iert") {
		return true
	}
	if len(w) < 5 || !strings.HasSuffix(w, "t") && !strings.HasSuffix(w, "en") {
		return false
	}
	for _, prefix := range []string{"be", "ver", "er", "ent", "zer", "uber"} {
		if strings.HasPrefix(w, prefix) && len(w) > len(prefix)+3 {
			return true
		}
	}
	return false
}
