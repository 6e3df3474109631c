//! Functions are told what to do in few words: few parameters, little nesting, and no boolean that steers. And what
//! can fail answers in words: a `Result<bool, _>` is the answer to a question, which the name asks.
//!
//! A boolean steers where a function branches on it: who reads the call sees `true` and cannot tell of what. An enum,
//! or two functions, say it.

use std::collections::BTreeSet;
use syn::visit::{self, Visit};
use syn::{
    BinOp, Block, Expr, FnArg, GenericArgument, Pat, PathArguments, ReturnType, Signature, Type,
};
use tidy::{files, name, text};

/// Values that a function is given, besides `self`: a tuple counts as what is in it.
const PARAMETERS: usize = 5;

/// Branches, loops and blocks within each other: a line that is in more of them is read with a finger.
const NESTING: usize = 4;

/// Booleans that are what the function is about, and no order to it: a condition to be asserted, the bit to be set.
const MEANT: [(&str, &str); 4] = [
    ("crates/ftl-core/src/check.rs", "ensure"),
    ("crates/ftl-core/src/hybrid/mlc/maps.rs", "set_flag"),
    ("crates/ftl-core/src/image.rs", "holds"),
    ("crates/ftl-core/src/table/mod.rs", "set"),
];

/// A word of the name of each function that returns a boolean or an error. What a fallible action came to is an enum.
const ASKING: [&str; 8] = ["any", "are", "does", "has", "holds", "is", "may", "was"];

/// What a file's functions have that they should not.
#[derive(Default)]
struct Reader {
    found: Vec<(String, String)>,
}

impl Reader {
    fn read(text: &str) -> Vec<(String, String)> {
        let mut reader = Self::default();
        reader.visit_file(&syn::parse_file(text).expect("Rust"));
        reader.found
    }

    fn look(&mut self, signature: &Signature, body: Option<&Block>) {
        let name = signature.ident.to_string();
        let mut note = |fault: String| self.found.push((name.clone(), fault));
        let typed: Vec<_> = signature
            .inputs
            .iter()
            .filter_map(|input| match input {
                FnArg::Typed(typed) => Some(typed),
                FnArg::Receiver(_) => None,
            })
            .collect();
        let count = typed.iter().map(|typed| values(&typed.ty)).sum::<usize>();
        if count > PARAMETERS {
            note(format!("{count} parameters"));
        }
        let asks = || ASKING.iter().any(|asking| name.split('_').any(|word| word == *asking));
        if returns_boolean_or_error(&signature.output) && !asks() {
            note("`bool` where an enum would say what".into());
        }
        let Some(body) = body else { return };
        let mut depth = Depth::default();
        depth.visit_block(body);
        if depth.most > NESTING {
            note(format!("nesting of {}", depth.most));
        }
        let booleans = typed.iter().filter(|typed| is_boolean(&typed.ty));
        let names = booleans.filter_map(|typed| match &*typed.pat {
            Pat::Ident(name) => Some(name.ident.to_string()),
            _ => None,
        });
        let mut branches = Branches { booleans: names.collect(), steer: BTreeSet::new() };
        branches.visit_block(body);
        branches.steer.into_iter().for_each(|name| note(format!("`{name}` steers")));
    }
}

/// The values that a parameter passes: a tuple passes each of its own.
fn values(kind: &Type) -> usize {
    match kind {
        Type::Tuple(all) => all.elems.iter().map(values).sum(),
        _ => 1,
    }
}

fn is_boolean(kind: &Type) -> bool {
    matches!(kind, Type::Path(path) if path.path.is_ident("bool"))
}

/// Whether it is a `Result<bool, …>` of any kind.
fn returns_boolean_or_error(output: &ReturnType) -> bool {
    let ReturnType::Type(_, kind) = output else { return false };
    let Type::Path(path) = &**kind else { return false };
    let Some(last) = path.path.segments.last().filter(|last| last.ident == "Result") else {
        return false;
    };
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return false };
    matches!(arguments.args.first(), Some(GenericArgument::Type(kind)) if is_boolean(kind))
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.look(&item.sig, Some(&item.block));
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.look(&item.sig, Some(&item.block));
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_expr_closure(&mut self, closure: &'ast syn::ExprClosure) {
        let count = values_of_closure(closure);
        if count > PARAMETERS {
            self.found.push(("a closure".into(), format!("{count} parameters")));
        }
        visit::visit_expr_closure(self, closure);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        self.look(&item.sig, item.default.as_ref());
        visit::visit_trait_item_fn(self, item);
    }
}

/// The values that a closure is called with, if it names more than one parameter.
fn values_of_closure(closure: &syn::ExprClosure) -> usize {
    fn values(pattern: &Pat) -> usize {
        match pattern {
            Pat::Tuple(all) => all.elems.iter().map(values).sum(),
            Pat::Type(typed) => values(&typed.pat),
            _ => 1,
        }
    }
    if closure.inputs.len() > 1 { closure.inputs.iter().map(values).sum() } else { 1 }
}

/// How deep a function's lines stand.
#[derive(Default)]
struct Depth {
    now: usize,
    most: usize,
}

impl Depth {
    fn deeper(&mut self, inside: impl FnOnce(&mut Self)) {
        self.now += 1;
        self.most = self.most.max(self.now);
        inside(self);
        self.now -= 1;
    }

    /// A block that belongs to what was counted already: an arm's, or a closure's.
    fn visit_body(&mut self, body: &Expr) {
        match body {
            Expr::Block(block) => self.visit_block(&block.block),
            other => self.visit_expr(other),
        }
    }
}

impl<'ast> Visit<'ast> for Depth {
    /// A function within a function is looked at by itself.
    fn visit_item(&mut self, _: &'ast syn::Item) {}

    /// What follows on `else if` stands no deeper than the first branch.
    fn visit_expr_if(&mut self, branch: &'ast syn::ExprIf) {
        self.visit_expr(&branch.cond);
        self.deeper(|depth| depth.visit_block(&branch.then_branch));
        match branch.else_branch.as_ref().map(|(_, other)| &**other) {
            Some(Expr::If(other)) => self.visit_expr_if(other),
            Some(other) => self.deeper(|depth| depth.visit_body(other)),
            None => {}
        }
    }

    fn visit_expr_match(&mut self, choice: &'ast syn::ExprMatch) {
        self.visit_expr(&choice.expr);
        self.deeper(|depth| choice.arms.iter().for_each(|arm| depth.visit_body(&arm.body)));
    }

    fn visit_expr_for_loop(&mut self, turns: &'ast syn::ExprForLoop) {
        self.visit_expr(&turns.expr);
        self.deeper(|depth| depth.visit_block(&turns.body));
    }

    fn visit_expr_while(&mut self, turns: &'ast syn::ExprWhile) {
        self.visit_expr(&turns.cond);
        self.deeper(|depth| depth.visit_block(&turns.body));
    }

    fn visit_expr_loop(&mut self, turns: &'ast syn::ExprLoop) {
        self.deeper(|depth| depth.visit_block(&turns.body));
    }

    fn visit_expr_block(&mut self, block: &'ast syn::ExprBlock) {
        self.deeper(|depth| depth.visit_block(&block.block));
    }

    fn visit_expr_closure(&mut self, closure: &'ast syn::ExprClosure) {
        match &*closure.body {
            body @ Expr::Block(_) => self.deeper(|depth| depth.visit_body(body)),
            other => self.visit_expr(other),
        }
    }
}

/// Which of a function's booleans it branches on.
struct Branches {
    booleans: BTreeSet<String>,
    steer: BTreeSet<String>,
}

impl Branches {
    fn condition(&mut self, condition: &Expr) {
        match condition {
            Expr::Path(path) => {
                let name = path.path.get_ident().map(ToString::to_string);
                self.steer.extend(name.filter(|name| self.booleans.contains(name)));
            }
            Expr::Unary(not) => self.condition(&not.expr),
            Expr::Paren(inner) => self.condition(&inner.expr),
            Expr::Binary(both) if matches!(both.op, BinOp::And(_) | BinOp::Or(_)) => {
                self.condition(&both.left);
                self.condition(&both.right);
            }
            Expr::Tuple(all) => all.elems.iter().for_each(|one| self.condition(one)),
            _ => {}
        }
    }
}

impl<'ast> Visit<'ast> for Branches {
    fn visit_expr_if(&mut self, branch: &'ast syn::ExprIf) {
        self.condition(&branch.cond);
        visit::visit_expr_if(self, branch);
    }

    fn visit_expr_while(&mut self, turns: &'ast syn::ExprWhile) {
        self.condition(&turns.cond);
        visit::visit_expr_while(self, turns);
    }

    fn visit_expr_match(&mut self, choice: &'ast syn::ExprMatch) {
        self.condition(&choice.expr);
        visit::visit_expr_match(self, choice);
    }

    fn visit_pat_guard(&mut self, guarded: &'ast syn::PatGuard) {
        self.condition(&guarded.guard);
        visit::visit_pat_guard(self, guarded);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        if ["then", "then_some"].iter().any(|name| call.method == name) {
            self.condition(&call.receiver);
        }
        visit::visit_expr_method_call(self, call);
    }
}

fn faults(body: &str) -> Vec<String> {
    Reader::read(body).into_iter().map(|(_, fault)| fault).collect()
}

#[test]
fn many_parameters_are_found() {
    assert_eq!(faults("fn f(a: u8, b: u8, c: u8, d: u8, e: u8) {}"), [""; 0]);
    let method = "trait T { fn f(&self, a: u8, b: u8, c: u8, d: u8, e: u8, f: u8); }";
    assert_eq!(faults(method), ["6 parameters"]);
    assert_eq!(faults("fn f(a: u8, (b, c): (u8, u8), d: (u8, u8)) {}"), [""; 0]);
    assert_eq!(faults("fn f(a: u8, (b, c): (u8, (u8, u8)), d: (u8, u8)) {}"), ["6 parameters"]);
    assert_eq!(faults("fn f() { g(|(a, b, c), (d, e)| h()) }"), [""; 0]);
    assert_eq!(faults("fn f() { g(|(a, b, c), (d, e, f)| h()) }"), ["6 parameters"]);
}

#[test]
fn deep_nesting_is_found() {
    let four = "fn f() { loop { if a { x() } else if b { match c { _ => { while d {} } } } } }";
    assert_eq!(faults(four), [""; 0]);
    assert_eq!(faults(&four.replace("while d {}", "while d { for e in f {} }")), ["nesting of 5"]);
    assert_eq!(faults(&four.replace("while d {}", "g(|h| { loop { i() } })")), ["nesting of 5"]);
}

#[test]
fn booleans_that_steer_are_found() {
    for body in ["if on {}", "if a && !on {}", "match (a, on) { _ => {} }", "on.then(f);"] {
        assert_eq!(faults(&format!("fn f(on: bool) {{ {body} }}")), ["`on` steers"], "{body}");
    }
    assert_eq!(faults("fn f(on: bool) { match a { _ if on => {} _ => {} } }"), ["`on` steers"]);
    assert_eq!(faults("fn f(on: bool) { g(on); if on == a() {} }"), [""; 0]);
}

#[test]
fn answers_without_a_question_are_found() {
    let told = ["`bool` where an enum would say what"];
    assert_eq!(faults("fn erase() -> io::Result<bool> { todo() }"), told);
    assert_eq!(faults("trait T { fn next(&self) -> Result<bool, u8>; }"), told);
    assert_eq!(faults("fn block_is_bad() -> Result<bool, u8> { todo() }"), [""; 0]);
    assert_eq!(faults("fn erase() -> Result<Erasure, bool> { todo() }"), [""; 0]);
}

#[test]
fn functions_are_told_what_to_do_in_few_words() {
    let mut untold = Vec::new();
    for path in files("rs") {
        let place = name(&path);
        for (function, fault) in Reader::read(&text(&path)) {
            if !MEANT.contains(&(&*place, &*function)) {
                untold.push(format!("    {place}, {function}: {fault}"));
            }
        }
    }
    untold.sort();
    assert!(untold.is_empty(), "too much is asked of readers:\n{}", untold.join("\n"));
}
