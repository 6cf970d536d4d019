//! The page in a real browser, as the person on call uses it.

use serde_json::json;
use skail_http::reqwest::header::ACCEPT_LANGUAGE;

use crate::browser::Browser;
use crate::shop::{Shop, deliver};

const TAB: char = '\u{e004}';
const ENTER: char = '\u{e007}';

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_order_is_found_understood_resumed_and_seen_to_complete() {
    let shop = Shop::opened().await;
    shop.order("order-7").await;
    let browser = Browser::opened(1200).await;
    browser.open(&shop.url("/")).await;
    assert_eq!(browser.text("#count-failed strong").await, "1");
    browser.click("#count-failed a").await;
    browser.click("#row-order-7 a.id").await;
    let trouble = browser.text("#trouble").await;
    assert!(trouble.contains("no answer for order-7"), "{trouble}");
    // Each attempt is a bar, and its error can be read.
    browser.click("#step-0 summary").await;
    let step = browser.text("#step-0").await;
    assert!(
        step.contains("charge") && step.contains("Attempt 1") && step.contains("Attempt 2"),
        "{step}"
    );
    let failed = "document.querySelectorAll('#step-0 rect.failed').length";
    assert_eq!(browser.run(&format!("return {failed}")).await, 2);

    shop.gateway.comes_up();
    browser.click("#actions button[value=resume]").await;
    browser.enter("input[name=by]", "Ana").await;
    browser
        .enter("input[name=reason]", "the gateway is back")
        .await;
    browser.click("#yes").await;
    // Nobody loads the page again: what comes, comes by itself.
    browser.until("location.pathname === '/execution'").await;
    browser
        .until("document.querySelector('#status').innerText === 'completed'")
        .await;
    browser
        .until("document.querySelector('#trouble').innerText.includes('receipt for order-7')")
        .await;
    assert_eq!(browser.complaints().await, [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_come_by_themselves_and_move_nothing_under_the_readers_hand() {
    let shop = Shop::opened().await;
    for number in 0..40 {
        shop.order(&format!("order-{number:02}")).await;
    }
    let browser = Browser::opened(1200).await;
    browser.open(&shop.url("/executions?status=failed")).await;
    browser
        .until("document.querySelector('#live').dataset.state === 'on'")
        .await;
    browser.click("#row-order-20 input").await;
    browser
        .run("window.same = true; window.scrollTo(0, 500)")
        .await;
    let place = "return document.querySelector('#row-order-20').getBoundingClientRect().top";
    let before = browser.run(place).await;
    shop.gateway.comes_up();
    let resumed = shop.skail.execution::<String>("order-30").await.unwrap();
    resumed.resume().await.unwrap();
    resumed.result().await.unwrap();
    shop.skail.start(deliver("x".to_owned())).await.unwrap();
    browser
        .until("document.querySelector('#row-order-30').classList.contains('gone')")
        .await;
    browser
        .until("!document.querySelector('#newer').hidden")
        .await;
    let kept = "return [window.same, document.querySelector('#row-order-20 input').checked, \
        document.querySelectorAll('#rows tr').length]";
    assert_eq!(browser.run(kept).await, json!([true, true, 40]));
    let after = browser.run(place).await;
    let moved = (before.as_f64().unwrap() - after.as_f64().unwrap()).abs();
    assert!(moved < 2.0, "the row moved by {moved} pixels");

    // What is open stays open when its execution changes.
    browser.open(&shop.url("/execution?id=order-11")).await;
    browser
        .until("document.querySelector('#live').dataset.state === 'on'")
        .await;
    browser.click("#step-0 summary").await;
    browser.run("window.same = true").await;
    let order = shop.skail.execution::<String>("order-11").await.unwrap();
    order.resume().await.unwrap();
    browser
        .until("document.querySelector('#status').innerText === 'completed'")
        .await;
    let kept = "return [window.same, document.querySelector('#step-0 details').open]";
    assert_eq!(browser.run(kept).await, json!([true, true]));
    assert_eq!(browser.complaints().await, [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_are_chosen_and_resumed_or_deleted_at_once() {
    let shop = Shop::opened().await;
    for id in ["one", "two", "three"] {
        shop.order(id).await;
    }
    shop.gateway.comes_up();
    let browser = Browser::opened(1200).await;
    browser.open(&shop.url("/executions")).await;
    browser.click("#all").await;
    browser.click("button[value=resume]").await;
    browser
        .until("document.querySelectorAll('.ids li').length === 3")
        .await;
    browser.click("#yes").await;
    let outcomes = browser.text(".outcomes").await;
    assert_eq!(outcomes.matches("done").count(), 3, "{outcomes}");
    for id in ["one", "two", "three"] {
        let order = shop.skail.execution::<String>(id).await.unwrap();
        assert_eq!(order.result().await.unwrap(), format!("receipt for {id}"));
    }
    browser.open(&shop.url("/executions?prefix=t")).await;
    browser.click("#all").await;
    browser.click("button[value=delete]").await;
    browser.click("#yes").await;
    browser
        .until("document.querySelectorAll('.outcomes li').length === 2")
        .await;
    browser.open(&shop.url("/executions")).await;
    browser
        .until("document.querySelectorAll('#rows tr').length === 1")
        .await;
}

/// What runs if it is ever taken for HTML, in the ways there are.
const SCRIPT: &str = "\"'><img src=x onerror=\"window.hacked=1\"></pre><script>window.hacked=1</script>\
    <svg onload=window.hacked=1><a href=\"javascript:window.hacked=1\">x</a>";

#[tokio::test(flavor = "multi_thread")]
async fn what_executions_hold_is_text_and_nothing_else() {
    let shop = Shop::opened().await;
    let call = crate::shop::sell(SCRIPT.to_owned());
    let start = shop
        .skail
        .start(call)
        .id(SCRIPT.chars().take(190).collect::<String>());
    let order = start.tag(SCRIPT, SCRIPT).await.unwrap();
    order.result().await.unwrap_err();
    let link = "document.querySelector('a.id').href";
    let browser = Browser::opened(1200).await;
    browser.open(&shop.url("/")).await;
    let problem = browser.text("#problems p.problem").await;
    assert!(
        problem.contains("<script>window.hacked=1</script>"),
        "{problem}"
    );
    let unharmed = "return [window.hacked, document.querySelectorAll('main img, main script').length, \
        document.querySelectorAll('a[href^=javascript]').length]";
    let paths = [
        "/".to_owned(),
        "/executions".to_owned(),
        format!(
            "/executions?text={}",
            "%3Cscript%3Ewindow.hacked=1%3C/script%3E"
        ),
        format!(
            "/executions?status={}",
            "%3Cscript%3Ewindow.hacked=1%3C/script%3E"
        ),
        format!(
            "/execution?id={}",
            "%3Cscript%3Ewindow.hacked=1%3C/script%3E"
        ),
    ];
    for path in paths {
        browser.open(&shop.url(&path)).await;
        browser.until("document.readyState === 'complete'").await;
        assert_eq!(browser.run(unharmed).await, json!([null, 0, 0]), "{path}");
    }
    browser.open(&shop.url("/")).await;
    let execution = browser.run(&format!("return {link}")).await;
    browser.open(execution.as_str().unwrap()).await;
    browser.click("#function summary").await;
    browser.click("#step-0 summary").await;
    let step = browser.text("#step-0").await;
    assert!(step.contains("window.hacked=1</script>"), "{step}");
    assert_eq!(browser.run(unharmed).await, json!([null, 0, 0]));
    browser.click("#actions button[value=delete]").await;
    browser.until("document.querySelector('#yes')").await;
    assert_eq!(browser.run(unharmed).await, json!([null, 0, 0]));
    browser.click("#yes").await;
    browser.until("document.querySelector('.outcomes')").await;
    assert_eq!(browser.run(unharmed).await, json!([null, 0, 0]));
    shop.skail
        .execution::<String>(order.id())
        .await
        .unwrap_err();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_is_used_by_keyboard_and_fits_a_phone() {
    let shop = Shop::opened().await;
    shop.order(&"a-very-long-id-".repeat(12)).await;
    let browser = Browser::opened(500).await;
    for path in ["/", "/executions"] {
        browser.open(&shop.url(path)).await;
        let wide = browser
            .run("return document.documentElement.scrollWidth - innerWidth")
            .await;
        assert!(wide.as_i64().unwrap() <= 0, "{path} is {wide} too wide");
    }
    browser.click("#rows a.id").await;
    browser
        .until("location.pathname === '/execution' && document.querySelector('#step-0')")
        .await;
    let wide = browser
        .run("return document.documentElement.scrollWidth - innerWidth")
        .await;
    assert!(
        wide.as_i64().unwrap() <= 0,
        "the execution is {wide} too wide"
    );

    browser.press(TAB).await;
    assert_eq!(
        browser.run("return document.activeElement.className").await,
        "skip"
    );
    for _ in 0..30 {
        browser.press(TAB).await;
        let there = browser
            .run("return document.activeElement.matches('#step-0 summary')")
            .await;
        if there == true {
            break;
        }
    }
    browser.press(ENTER).await;
    browser
        .until("document.querySelector('#step-0 details').open")
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_token_is_asked_for_once_and_no_script_sees_what_is_kept_of_it() {
    let token = "swordfish-0123456789";
    let shop = Shop::with(|monitor| monitor.token(token)).await;
    shop.order("one").await;
    let browser = Browser::opened(1200).await;
    browser.open(&shop.url("/executions")).await;
    browser.enter("#token", "not-this-one-surely").await;
    browser.click("button.first").await;
    browser
        .until("document.querySelector('[role=alert]')")
        .await;
    browser.enter("#token", token).await;
    browser.click("button.first").await;
    browser
        .until("document.querySelector('#count-failed')")
        .await;
    browser
        .until("document.querySelector('#live').dataset.state === 'on'")
        .await;
    let seen = browser
        .run("return [document.cookie, location.href, document.body.innerHTML]")
        .await;
    assert_eq!(seen[0], "");
    assert!(!seen.to_string().contains("swordfish"));
    browser.click("form[action='/logout'] button").await;
    browser.until("document.querySelector('#token')").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_speaks_the_browsers_language() {
    let shop = Shop::opened().await;
    for (wished, code, word) in [
        ("pt-BR,pt;q=0.9", "pt", "Visão geral"),
        ("fr", "en", "Overview"),
    ] {
        let request = shop
            .client
            .get(shop.url("/"))
            .header(ACCEPT_LANGUAGE, wished);
        let page = request.send().await.unwrap().text().await.unwrap();
        assert!(
            page.contains(&format!("<html lang=\"{code}\">")),
            "{wished}"
        );
        assert!(page.contains(word), "{wished}");
    }
}
