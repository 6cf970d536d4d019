//! The constants that describe an item, and its registration.

use std::time::Duration;

use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote_spanned;
use syn::ext::IdentExt;
use syn::spanned::Spanned;

use super::{ends, here, parameter_const, projection, state_const};
use crate::kind::Kind;
use crate::model::Model;
use crate::options::Backoff;

/// The constants that stand for what goes in and comes out. Each is the one place that demands that its
/// type can be recorded or shared, and is spanned there; what uses them demands nothing.
pub(super) fn ports(model: &Model) -> TokenStream {
    let root = model.root.at(here());
    let recorded = model.recorded().enumerate().map(|(index, (name, ty))| {
        let constant = parameter_const(index);
        let word = name.unraw().to_string();
        let span = ty.span().resolved_at(here());
        let at_type = model.root.at(span);
        let make = quote_spanned!(span=> #at_type::__private::parameter::<#ty>);
        quote_spanned! {here()=>
            const #constant: #root::__private::Parameter<#ty> = #make(#word);
        }
    });
    let states = model.states().enumerate().map(|(index, ty)| {
        let constant = state_const(index);
        let span = ty.span().resolved_at(here());
        let at_type = model.root.at(span);
        let make = quote_spanned!(span=> #at_type::__private::state::<#ty>);
        quote_spanned! {here()=>
            const #constant: #root::__private::State<#ty> = #make();
        }
    });
    let value = projection(model, "Value");
    let error = projection(model, "Error");
    let (first, last) = ends(model);
    let at_output = model.root.at(first);
    let make = quote_spanned!(last=> #at_output::__private::ending::<#value, #error>());
    let output = &model.output;
    let ty = quote_spanned!(last=> #at_output::__private::EndingOf<#output>);
    quote_spanned! {here()=>
        #(#recorded)*
        #(#states)*
        const __SKAIL_ENDING: #ty = #make;
    }
}

/// The descriptor.
pub(super) fn descriptor(model: &Model) -> TokenStream {
    let root = model.root.at(here());
    let name = model.recorded_name();
    let words = model.recorded().map(|(name, _)| name.unraw().to_string());
    let states = model.states().enumerate().map(|(index, _)| {
        let constant = state_const(index);
        quote_spanned!(here()=> Self::#constant.key)
    });
    let policy = policy(model);
    // `site` gives where its call stands: at the user's name, and in the user's context, since for
    // anything else the compiler gives the attribute.
    let at_name = model.signature.ident.span();
    let root_at_name = model.root.at(at_name);
    let site = quote_spanned! {at_name=>
        #root_at_name::__private::site(#root_at_name::__private::module_path!())
    };
    let (descriptor, body) = match model.kind {
        Kind::Command if model.is_async() => (
            "CommandDescriptor",
            quote_spanned!(here()=> #root::__private::Body::Async(Self::__skail_run)),
        ),
        Kind::Command => (
            "CommandDescriptor",
            quote_spanned!(here()=> #root::__private::Body::Blocking(Self::__skail_run)),
        ),
        Kind::Function => (
            "FunctionDescriptor",
            quote_spanned!(here()=> Self::__skail_run),
        ),
    };
    let descriptor = Ident::new(descriptor, here());
    quote_spanned! {here()=>
        const __SKAIL_DESCRIPTOR: &'static #root::__private::#descriptor =
            &#root::__private::#descriptor {
                name: #name,
                site: #site,
                parameters: &[#(#words),*],
                states: &[#(#states),*],
                policy: #policy,
                body: #body,
            };
    }
}

fn policy(model: &Model) -> TokenStream {
    let root = model.root.at(here());
    let options = &model.options;
    let policy = match model.kind {
        Kind::Command => Ident::new("CommandPolicy", here()),
        Kind::Function => Ident::new("FunctionPolicy", here()),
    };
    let default = quote_spanned!(here()=> #root::__private::#policy::DEFAULT);
    let silent = options.retry_count.is_none()
        && options.backoff.is_none()
        && options.timeout.is_none()
        && options.dependency.is_none();
    if silent {
        return default;
    }
    let retry_count = match &options.retry_count {
        Some(count) => count.clone(),
        None => quote_spanned!(here()=> #default.retry_count),
    };
    let backoff = match options.backoff {
        Some(value) => {
            let value = backoff(model, value);
            quote_spanned!(here()=> ::core::option::Option::Some(#value))
        }
        None => quote_spanned!(here()=> #default.backoff),
    };
    let of_commands = (model.kind == Kind::Command).then(|| {
        let timeout = match options.timeout {
            Some(time) => {
                let time = duration(model, time);
                quote_spanned!(here()=> ::core::option::Option::Some(#time))
            }
            None => quote_spanned!(here()=> #default.timeout),
        };
        let dependency = match &options.dependency {
            Some(name) => quote_spanned!(here()=> ::core::option::Option::Some(#name)),
            None => quote_spanned!(here()=> #default.dependency),
        };
        quote_spanned! {here()=>
            timeout: #timeout,
            max_retry_after: #default.max_retry_after,
            dependency: #dependency,
        }
    });
    quote_spanned! {here()=>
        #root::__private::#policy { retry_count: #retry_count, backoff: #backoff, #of_commands }
    }
}

fn backoff(model: &Model, backoff: Backoff) -> TokenStream {
    let root = model.root.at(here());
    let base = duration(model, backoff.base);
    let factor = Literal::f64_suffixed(backoff.factor);
    let cap = duration(model, backoff.cap);
    let jitter = Ident::new(backoff.jitter, here());
    quote_spanned! {here()=>
        #root::__private::Backoff::checked_by_the_attribute(
            #base,
            #factor,
            #cap,
            #root::__private::Jitter::#jitter,
        )
    }
}

fn duration(model: &Model, time: Duration) -> TokenStream {
    let root = model.root.at(here());
    let seconds = Literal::u64_unsuffixed(time.as_secs());
    let nanos = Literal::u32_unsuffixed(time.subsec_nanos());
    quote_spanned!(here()=> #root::__private::Duration::new(#seconds, #nanos))
}

/// How the runtime finds the item by itself, and how a user names it who registers by hand.
pub(super) fn registration(model: &Model) -> TokenStream {
    let gates = &model.attributes.gates;
    let root = model.root.at(here());
    let home = model.type_name();
    let variant = match model.kind {
        Kind::Command => Ident::new("Command", here()),
        Kind::Function => Ident::new("Function", here()),
    };
    quote_spanned! {here()=>
        #(#gates)*
        impl #root::__private::Register for #home {
            const REGISTRATION: #root::__private::Registration =
                #root::__private::Registration::#variant(Self::__SKAIL_DESCRIPTOR);
        }

        #(#gates)*
        #root::__private::inventory::submit!(<#home as #root::__private::Register>::REGISTRATION);
    }
}
